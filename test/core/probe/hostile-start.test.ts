/** One hostile node of three seeds, at the start (rule 10). */
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { honest, ScriptedServers, truth, type ScriptedServer } from "../../fake/scripted-servers.ts";

/** The hosts x, y and z are the hostile node's, too. */
const hostile: Readonly<Record<string, Readonly<Record<string, ScriptedServer>>>> = {
  "gives the others' addresses as its own": { a: { states: "pg1", lists: { pg1: "b", pg2: "a", pg3: "c" } } },
  "lists servers of its own under the others' names": {
    a: { states: "pg1", lists: { pg1: "a", pg2: "x", pg3: "y" } },
    x: { states: "pg2" },
    y: { states: "pg3", holdsLock: true },
  },
  "states the primary's name, and claims the lock": {
    a: { states: "pg2", holdsLock: true, lists: { pg1: "c", pg2: "a", pg3: "b" }, names: "pg2" },
  },
  "states the primary's name, and lists it elsewhere": {
    a: { states: "pg2", holdsLock: true, lists: { pg1: "y", pg2: "x", pg3: "z" }, names: "pg2" },
    x: { states: "pg2", holdsLock: true },
    y: { states: "pg1" },
    z: { states: "pg3" },
  },
  "lists a crowd that votes for it": {
    a: { states: "pg2", lists: { pg2: "a", ...crowd() }, names: "m0" },
    ...Object.fromEntries(
      Object.entries(crowd()).map(([name, host]) => [
        host,
        { states: name, lists: { ...crowd(), pg1: "a", pg2: "a", pg3: "a" } },
      ]),
    ),
  },
  "states another name every time": { a: { states: "zz", lists: { zz: "a", pg1: "c", pg2: "c" } } },
};

function crowd(): Readonly<Record<string, string>> {
  return Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`m${at}`, `m${at}.evil`]));
}

suite("one hostile node of three, first in discover, wins no other node's name", () => {
  for (const [title, servers] of Object.entries(hostile)) {
    for (const early of [false, true]) {
      test(`${title}${early ? ", 3 s before the others answer" : ""}`, async (context) => {
        const late = (server: ScriptedServer): ScriptedServer => (early ? { ...server, delayMs: 3_000 } : server);
        const network = new ScriptedServers(context, {
          discover: ["a", "b", "c"],
          servers: { ...servers, b: late(honest["b"]!), c: late(honest["c"]!) },
        });
        for (let round = 0; round < 40; round += 1) {
          await network.pass(75);
          const found = network.found("primary");
          if (early) continue;
          assert.doesNotMatch(found["pg1"] ?? "", / fit/);
          assert.doesNotMatch(found["pg3"] ?? "", / fit/);
          assert.ok([undefined, "b fit"].includes(found["pg2"]) || !(found["pg2"] ?? "").endsWith(" fit"));
        }
        network.servers.set("b", honest["b"]!);
        network.servers.set("c", honest["c"]!);
        await network.pass(12_000);
        const found = network.found();
        assert.equal(found["pg2"], "b fit");
        assert.equal(found["pg3"], "c fit");
        assert.equal(network.found("primary")["pg2"], "b fit");
      });
    }

    test(`${title}, while an honest replica is stopped`, async (context) => {
      const { c, b } = honest;
      const network = new ScriptedServers(context, { discover: ["a", "b", "c"], servers: { ...servers, b: b! } });
      for (const lists of [truth, { pg1: "a", pg2: "b" }]) {
        network.servers.set("b", { ...b!, lists });
        for (let round = 0; round < 40; round += 1) {
          await network.pass(500);
          // Of two seeds that answer nothing tells the good one, so the hostile one may withhold a yes.
          assert.doesNotMatch(network.found()["pg3"] ?? "", / fit/);
          assert.match(network.found()["pg2"] ?? "b fit", /^b|(?<! fit)$/);
        }
      }
      network.servers.set("b", b!);
      network.servers.set("c", c!);
      await network.pass(12_000);
      assert.equal(network.found()["pg3"], "c fit");
    });
  }
});

test("a hostile seed of another system, the primary at first, leaves no trace once all answer", async (context) => {
  const lies = { states: "pg2", holdsLock: true, lists: { pg1: "a", pg2: "a", pg3: "c" }, names: "pg2" };
  const other = { ...lies, fields: { database_system_identifier: "6999999999999999999" } };
  const network = new ScriptedServers(context, {
    discover: ["a", "b", "c"],
    servers: { a: other, b: "hangs", c: "hangs" },
  });
  await network.pass(4_000);
  assert.equal(network.found()["pg2"], "a fit", "nobody else answers");
  network.servers.set("b", honest["b"]!);
  await network.pass(12_000);
  assert.notEqual(network.found("primary")["pg2"], "b fit", "of two seeds nothing tells the good one");
  network.servers.set("c", honest["c"]!);
  await network.pass(12_000);
  assert.equal(network.found("primary")["pg2"], "b fit");
  assert.equal(network.found("replica")["pg3"], "c fit");
});
