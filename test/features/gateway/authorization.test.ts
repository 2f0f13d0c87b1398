import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, suite, test } from "node:test";
import { hashOf } from "../../../src/cli/commands/hash-password.ts";
import type { ClusterConfig } from "../../../src/core/config/model/config.ts";
import type { ListenerAuth } from "../../../src/core/config/model/listener-access-config.ts";
import { withFaultyGateway } from "../../fake/faulty-gateway-fixture.ts";

const folder = mkdtempSync(join(tmpdir(), "rolecall-authorization-"));
after(() => rmSync(folder, { recursive: true }));
const passwordFile = join(folder, "password");
writeFileSync(passwordFile, "secret\n");

const clients = "Basic YW5uOmh1bnRlcjI="; // ann:hunter2
const clusters = `Basic ${Buffer.from("admin:secret").toString("base64")}`;
const ann = [{ user: "ann", scrypt: hashOf("hunter2") }];
const authOf = (parts: Partial<ListenerAuth>): ListenerAuth => ({
  for: "unsafe",
  basic: [],
  bearer: [],
  certificate: false,
  ...parts,
});

interface Row {
  readonly given: string;
  readonly auth: ListenerAuth | null;
  readonly cluster: Partial<ClusterConfig>;
  /** What the node receives with a management call, and with a fetch. */
  readonly call: string | undefined;
  readonly question: string | undefined;
}

const rows: readonly Row[] = [
  { given: "neither listener nor cluster has credentials", auth: null, cluster: {}, call: clients, question: clients },
  {
    given: "the listener has credentials",
    auth: authOf({ basic: ann }),
    cluster: {},
    call: undefined,
    question: undefined,
  },
  {
    given: "the cluster has credentials",
    auth: null,
    cluster: { auth: { user: "admin", passwordFile } },
    call: clusters,
    question: undefined,
  },
  {
    given: "both have credentials",
    auth: authOf({ basic: ann }),
    cluster: { auth: { user: "admin", passwordFile } },
    call: clusters,
    question: undefined,
  },
  {
    given: "the cluster's password file cannot be read",
    auth: null,
    cluster: { auth: { user: "admin", passwordFile: join(folder, "nowhere") } },
    call: undefined,
    question: undefined,
  },
];

suite("the Authorization header that a node receives, if", () => {
  for (const { given, auth, cluster, call, question } of rows) {
    test(given, async () => {
      await withFaultyGateway({ access: { auth }, cluster }, async (gateway, { pg2 }) => {
        const headers = { authorization: clients };
        assert.equal((await gateway.request("/nodes/pg2/reload", { method: "POST", headers })).status, 200);
        assert.equal(pg2.received.at(-1)?.headers["authorization"], call);
        assert.equal((await gateway.request("/nodes/pg2/metrics", { headers })).status, 200);
        assert.equal(pg2.received.at(-1)?.headers["authorization"], question);
      });
    });
  }
});
