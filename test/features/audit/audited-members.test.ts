import assert from "node:assert/strict";
import { test } from "node:test";
import { auditedMembers } from "../../../src/features/audit/audited-members.ts";
import { ClusterFixture } from "../../fake/cluster-fixture.ts";
import { storeFixture } from "../../fake/store-fixture.ts";

/** Where the databases of the three nodes are. */
const databases: Readonly<Record<string, string>> = { pg1: "2001:DB8:0:0::1", pg2: "10.0.0.2", pg3: "PG3.db.internal" };

test("finds members by the addresses that balancers show: IPv6 in its shortest form, those of a host name", () => {
  const fixture = storeFixture({}, false, (name) => ({ host: databases[name] ?? "", port: 5432 }));
  const policy = fixture.store.policyOf("demo");
  assert.ok(policy !== undefined);
  const { at, members, isComplete } = auditedMembers(fixture.state(), policy, () => ({
    ips: ["10.0.0.3"],
    atMs: 0,
    isPending: false,
  }));
  const found = ["[2001:db8::1]:5432", "10.0.0.2:5432", "10.0.0.3:5432", "pg3.db.internal:5432"].map((address) =>
    at.get(address),
  );
  assert.deepEqual([isComplete, found], [true, [["pg1"], ["pg2"], ["pg3"], ["pg3"]]]);
  // Elsewhere a host name may have other addresses.
  assert.deepEqual(
    ["pg1", "pg2", "pg3"].map((node) => members.get(node)?.database?.host ?? null),
    ["2001:DB8:0:0::1", "10.0.0.2", null],
  );
});

test("a node that is down and listed no more is a member that nobody misses", () => {
  const { cluster, policy } = new ClusterFixture();
  const nodes = cluster.nodes.map((known) => {
    const isGone = known.node.name === "pg2";
    const database = { host: `10.0.0.${known.node.name.slice(2)}`, port: 5432 };
    const node = { ...known.node, isFixed: false, database };
    return { ...known, node, isDown: isGone, listedAtMs: isGone ? 1_000 : 2_000 };
  });
  const state = { ...cluster, nodes, isMembershipKnown: true };
  const { at, members } = auditedMembers(state, { ...policy, discovers: true }, () => ({
    ips: [],
    atMs: 0,
    isPending: false,
  }));
  assert.deepEqual(at.get("10.0.0.2:5432"), ["pg2"]);
  assert.equal(members.get("pg2")?.isExpected, false);
});
