import assert from "node:assert/strict";
import { test } from "node:test";
import { countedEnvoys } from "../../../src/features/xds/counted-envoys.ts";
import { listenerOf } from "../../fake/config.ts";

// Who counts on a listener with the dialect xds.

type Access = ReturnType<typeof listenerOf>["access"];
const envoys = ["edge-a"];
const xds = { checksAt: null, cutMs: 2_000, staleAfterMs: null, envoys };
const tls = { cert: "c", key: "k", ca: "a", minVersion: "TLSv1.2" } as const;

for (const [what, address, access, isClosed] of [
  ["is open", "0.0.0.0", {}, false],
  ["is open on IPv6", "::", {}, false],
  ["allows everybody", "0.0.0.0", { allow: ["10.0.0.0/8", "0.0.0.0/0"] }, false],
  ["allows everybody in halves", "0.0.0.0", { allow: ["0.0.0.0/1", "128.0.0.0/1"] }, false],
  ["allows everybody on IPv6", "::", { allow: ["::/0"] }, false],
  ["allows a network", "0.0.0.0", { allow: ["10.0.0.0/8"] }, true],
  ["asks for client certificates", "0.0.0.0", { tls: { ...tls, client: "optional" as const } }, false],
  ["requires client certificates", "0.0.0.0", { tls: { ...tls, client: "required" as const } }, true],
  ["is of this machine", "127.0.0.1", {}, true],
] satisfies readonly (readonly [string, string, Partial<Access>, boolean])[])
  test(`a listener that ${what}: ${isClosed ? "all count" : "those count that it lists"}`, () => {
    const listener = listenerOf({ dialect: "xds", address, xds });
    const counted = countedEnvoys({ ...listener, access: { ...listener.access, ...access } });
    assert.deepEqual(counted, isClosed ? "all" : new Set(envoys));
  });
