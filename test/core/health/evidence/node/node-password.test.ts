import assert from "node:assert/strict";
import { test } from "node:test";
import { parseCheck } from "../../../../../src/core/health/check.ts";
import { viewAt } from "../../../../../src/core/health/evidence/leadership/cluster-view.ts";
import { withholdsPassword } from "../../../../../src/core/health/evidence/node/node-password.ts";
import { explain } from "../../../../../src/core/health/rules/explain.ts";
import { policyOf } from "../../../../../src/core/state/clusters.ts";
import { ClusterFixture } from "../../../../fake/cluster-fixture.ts";
import { clusterOf, configOf, nodeOf } from "../../../../fake/config.ts";

const auth = { user: "admin", passwordFile: "/nowhere" };
const tls = { ca: null, cert: null, key: null, serverName: null, verify: "full" as const };
const inTls = "https://pg1:8008";

/** Whether the password is withheld from a node with this address, in a cluster with this configuration. */
const rows: readonly {
  readonly given: string;
  readonly cluster: Parameters<typeof clusterOf>[0];
  readonly api: string;
  readonly withheld: boolean;
}[] = [
  {
    given: "https seeds, a discovered http address",
    cluster: { auth, discover: [inTls] },
    api: "http://pg2:8008",
    withheld: true,
  },
  {
    given: "a tls section, a discovered http address",
    cluster: { auth, tls, discover: ["http://pg1:8008"] },
    api: "http://pg2:8008",
    withheld: true,
  },
  {
    given: "an https node, a discovered http address",
    cluster: { auth, discover: ["http://pg1:8008"], nodes: [nodeOf({ name: "pg1", api: inTls })] },
    api: "http://pg2:8008",
    withheld: true,
  },
  {
    given: "https seeds, a discovered https address",
    cluster: { auth, discover: [inTls] },
    api: "https://pg2:8008",
    withheld: false,
  },
  {
    given: "https seeds, an http address that the configuration names",
    cluster: { auth, discover: [inTls], nodes: [nodeOf({ name: "pg2", api: "http://pg2:8008" })] },
    api: "http://pg2:8008",
    withheld: false,
  },
  {
    given: "http seeds alone",
    cluster: { auth, discover: ["http://pg1:8008"] },
    api: "http://pg2:8008",
    withheld: false,
  },
  { given: "no password", cluster: { discover: [inTls] }, api: "http://pg2:8008", withheld: false },
];

for (const { given, cluster, api, withheld } of rows) {
  test(`the password is ${withheld ? "withheld from" : "sent to"} a node: ${given}`, () => {
    const policy = policyOf(clusterOf(cluster), configOf({ clusters: [] }).probe);
    assert.equal(withholdsPassword({ api }, policy), withheld);
  });
}

test("explain says that the password is withheld", () => {
  const watched = new ClusterFixture({ nodes: [], cluster: { auth, discover: [inTls] } });
  const members = ["http://pg1:8008", "https://pg2:8008"].map((api, at) => ({
    name: `pg${at + 1}`,
    role: "replica",
    api_url: `${api}/patroni`,
  }));
  watched.document("cluster", { of: "https://pg1:8008", value: { scope: "demo", members } }, 0);
  const isWithheld = ["pg1", "pg2"].map((name) => {
    watched.follow(name, 0);
    const view = viewAt(watched.cluster, watched.policy, 0);
    const check = parseCheck("replica", "", {
      ignoreParams: [],
      ignoresUnknown: false,
      defaults: "",
      lagTimeMsMin: 0,
    });
    const node = watched.cluster.nodes[watched.cluster.index.get(name) ?? -1];
    assert.ok(check.ok && node !== undefined);
    return explain(view, node, check.check).rules.some(
      ({ rule, value }) => rule === "node password" && value.includes("withheld"),
    );
  });
  assert.deepEqual(isWithheld, [true, false]);
});
