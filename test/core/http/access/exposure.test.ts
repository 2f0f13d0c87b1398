import assert from "node:assert/strict";
import { test } from "node:test";
import type { ListenerConfig } from "../../../../src/core/config/model/config.ts";
import { type ListenerAccess, unrestrictedAccess } from "../../../../src/core/config/model/listener-access-config.ts";
import { exposureProblem } from "../../../../src/core/http/access/exposure.ts";
import { listenerOf } from "../../../fake/config.ts";

type Row = readonly [
  dialect: ListenerConfig["dialect"],
  access: Partial<ListenerAccess>,
  bound: string | null,
  isRefused: boolean,
];

const tls = { cert: "a.pem", key: "a.key", ca: "ca.pem", minVersion: "TLSv1.2" } as const;
const auth = { for: "unsafe", basic: [], bearer: ["tokens"], certificate: false } as const;

const rows: readonly Row[] = [
  ["admin", {}, "0.0.0.0", true],
  ["admin", {}, "::", true],
  ["admin", {}, "::ffff:10.0.0.1", true],
  ["admin", {}, "127.0.0.1", false],
  ["admin", {}, "::1", false],
  ["admin", {}, "::ffff:127.0.0.1", false],
  ["admin", {}, null, false],
  ["admin", { readOnly: true }, "0.0.0.0", false],
  ["admin", { auth }, "0.0.0.0", false],
  ["admin", { allow: ["10.0.0.0/8"], allowFor: "unsafe" }, "0.0.0.0", false],
  ["admin", { tls: { ...tls, client: "required" } }, "0.0.0.0", false],
  ["admin", { tls: { ...tls, client: "optional" } }, "0.0.0.0", true],
  ["node", {}, "0.0.0.0", false],
  ["node", { management: true }, "0.0.0.0", true],
  ["node", { management: true, auth }, "0.0.0.0", false],
  ["exporter", {}, "0.0.0.0", false],
];

for (const [dialect, access, bound, isRefused] of rows) {
  const title = `${dialect} with ${JSON.stringify(access)} on ${bound ?? "a Unix socket"}`;
  test(`${isRefused ? "refuses" : "allows"} ${title}`, () => {
    const listener = listenerOf({ dialect, access: { ...unrestrictedAccess, ...access } });
    const problem = exposureProblem(listener, bound);
    assert.equal(problem !== null, isRefused, problem ?? "");
    if (problem !== null) assert.ok(problem.startsWith(`its socket has the address ${bound}, `), problem);
  });
}
