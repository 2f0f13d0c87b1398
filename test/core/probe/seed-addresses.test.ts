/** Seeds answer under the members' names, and the listed addresses never do: NAT, containers (rule 10). */
import assert from "node:assert/strict";
import { describe, test, type TestContext } from "node:test";
import { refuseUnproved } from "../../../src/core/health/calls/unproved.ts";
import { ScriptedServers, type ScriptedServer } from "../../fake/scripted-servers.ts";

/** Where the members say they are: nothing answers there. */
const nat = { pg1: "10.255.255.1", pg2: "10.255.255.2" };
const behind = { lists: nat, names: "pg1" };
const seeds: Readonly<Record<string, ScriptedServer>> = {
  s1: { states: "pg1", holdsLock: true, ...behind },
  s2: { states: "pg2", ...behind },
};
const both = { pg1: "s1 fit", pg2: "s2 fit" };

function networkOf(
  context: TestContext,
  servers: Readonly<Record<string, ScriptedServer | "hangs">>,
  discover = ["s1", "s2"],
): ScriptedServers {
  return new ScriptedServers(context, { discover, servers });
}

describe("a configured address that answers as a member whose listed address never answers", () => {
  test("is the member's once it has answered three times", async (context) => {
    const network = networkOf(context, seeds);
    await network.pass(200);
    assert.doesNotMatch(JSON.stringify(network.found()), / fit/);
    await network.pass(6_000);
    assert.deepEqual(network.found(), both);
    assert.deepEqual(network.found("primary"), { pg1: "s1 fit", pg2: "s2 wrong_role" });
    assert.equal(network.fixture.cluster.addressDisputes.size, 0);
    await network.pass(60_000);
    assert.deepEqual(network.found(), both);
  });

  test("is the member's three intervals after it begins to answer", async (context) => {
    const network = networkOf(context, { ...seeds, s2: "hangs" });
    await network.pass(8_000);
    assert.equal(network.found()["pg1"], "s1 fit");
    network.servers.set("s2", seeds["s2"]!);
    // It rested for up to 5 s.
    await network.pass(5_500 + 2_200);
    assert.deepEqual(network.found(), both);
  });

  test("is the member's if the listed addresses hang, too", async (context) => {
    const network = networkOf(context, { ...seeds, "10.255.255.1": "hangs", "10.255.255.2": "hangs" });
    await network.pass(8_000);
    assert.deepEqual(network.found(), both);
  });

  test("gets no calls", async (context) => {
    const network = networkOf(context, seeds);
    await network.pass(6_000);
    const [pg1] = network.fixture.cluster.nodes;
    assert.equal(pg1 === undefined ? null : refuseUnproved(pg1)?.status, 409);
  });

  test("is not the member's any more once it answers under another name", async (context) => {
    const network = networkOf(context, seeds);
    await network.pass(6_000);
    network.servers.set("s2", { states: "pg9", ...behind });
    await network.pass(3_000);
    assert.doesNotMatch(network.found()["pg2"] ?? "", /s2/);
    assert.equal(network.found()["pg1"], "s1 fit");
  });

  test("gives way to the listed address once that answers, and with the first of them for all members", async (context) => {
    const network = networkOf(context, seeds);
    await network.pass(6_000);
    network.servers.set("10.255.255.2", seeds["s2"]!);
    await network.pass(40_000);
    assert.deepEqual(network.found(), { pg1: "10.255.255.1 down", pg2: "10.255.255.2 fit" });
    network.servers.set("10.255.255.1", seeds["s1"]!);
    await network.pass(40_000);
    assert.deepEqual(network.found(), { pg1: "10.255.255.1 fit", pg2: "10.255.255.2 fit" });
  });
});

describe("a configured address is no member's", () => {
  const rows: readonly (readonly [string, Readonly<Record<string, ScriptedServer>>, string[]?])[] = [
    ["where another listed address has proved itself", { ...seeds, "10.255.255.1": seeds["s1"]! }],
    ["where it states no name", { s1: { ...seeds["s1"]!, states: null }, s2: { ...seeds["s2"]!, states: null } }],
    [
      "where most configured addresses are of another system",
      {
        s1: { ...seeds["s1"]!, fields: { database_system_identifier: "7" } },
        s2: { ...seeds["s2"]!, fields: { database_system_identifier: "8" } },
      },
    ],
    [
      "where a list gives it to another member",
      {
        s1: { ...seeds["s1"]!, lists: { pg1: "10.255.255.1", pg2: "s1" } },
        s2: { ...seeds["s2"]!, lists: { pg1: "10.255.255.1", pg2: "s1" } },
      },
    ],
  ];
  for (const [title, servers, discover] of rows)
    test(title, async (context) => {
      const network = networkOf(context, servers, discover);
      await network.pass(20_000);
      assert.doesNotMatch(network.found()["pg1"] ?? "", /s[12] fit/);
    });

  test("where it is a Service that leads to several members", async (context) => {
    const network = networkOf(context, { vip: seeds["s1"]! }, ["vip"]);
    for (let round = 0; round < 12; round += 1) {
      network.servers.set("vip", seeds[round % 2 === 0 ? "s1" : "s2"]!);
      await network.pass(1_000);
      assert.doesNotMatch(JSON.stringify(network.found()), /vip fit/);
    }
  });
});
