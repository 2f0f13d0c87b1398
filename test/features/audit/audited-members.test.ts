import assert from "node:assert/strict";
import { test } from "node:test";
import { auditedMembers } from "../../../src/features/audit/audited-members.ts";
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
