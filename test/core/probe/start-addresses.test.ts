/** Who gives a node's address at the start, and later (rule 10). */
import assert from "node:assert/strict";
import { test } from "node:test";
import { honest, ScriptedServers, truth, type ScriptedServer } from "../../fake/scripted-servers.ts";

const everyFit = { pg1: "a fit", pg2: "b fit", pg3: "c fit" };

test("three honest seeds: every member is at its address at once", async (context) => {
  const network = new ScriptedServers(context, { discover: ["a", "b", "c"], servers: honest });
  await network.pass(50);
  assert.deepEqual(network.found(), everyFit);
  assert.equal(network.found("primary")["pg2"], "b fit");
  assert.equal(network.fixture.cluster.addressDisputes.size, 0);
});

test("a seed that never answers delays the addresses by one timeout, and no longer", async (context) => {
  const network = new ScriptedServers(context, { discover: ["dead", "a"], servers: { ...honest, dead: "hangs" } });
  await network.pass(2_400);
  assert.doesNotMatch(JSON.stringify(network.found()), / fit/);
  await network.pass(150);
  assert.deepEqual(network.found(), everyFit);
});

test("a Service as the only seed: the members are at their own addresses, whichever of them it leads to", async (context) => {
  const network = new ScriptedServers(context, { discover: ["vip"], servers: { ...honest, vip: honest["a"]! } });
  await network.pass(50);
  assert.deepEqual(network.found(), everyFit);
  for (const host of ["b", "c", "a", "b"]) {
    network.servers.set("vip", honest[host]!);
    await network.pass(3_500);
    assert.deepEqual(network.found(), everyFit);
    assert.equal(network.fixture.cluster.addressDisputes.size, 0);
  }
});

test("seeds by other names than the listed addresses lead to the listed ones", async (context) => {
  const network = new ScriptedServers(context, {
    discover: ["a.example", "b.example", "c.example"],
    servers: { ...honest, "a.example": honest["a"]!, "b.example": honest["b"]!, "c.example": honest["c"]! },
  });
  await network.pass(100);
  assert.deepEqual(network.found(), everyFit);
  assert.equal(network.fixture.cluster.addressDisputes.size, 0);
});

test("all addresses change while a Service leads to the members: they are found again", async (context) => {
  const network = new ScriptedServers(context, { discover: ["vip"], servers: { ...honest, vip: honest["a"]! } });
  await network.pass(2_000);
  const moved = { lists: { pg1: "d", pg2: "e", pg3: "f" }, names: "pg2" };
  network.servers.clear();
  const servers: Readonly<Record<string, ScriptedServer>> = {
    d: { states: "pg1", ...moved },
    e: { states: "pg2", holdsLock: true, ...moved },
    f: { states: "pg3", ...moved },
    vip: { states: "pg3", ...moved },
  };
  for (const [host, server] of Object.entries(servers)) network.servers.set(host, server);
  await network.pass(8_000);
  assert.deepEqual(network.found(), { pg1: "d fit", pg2: "e fit", pg3: "f fit" });
  assert.equal(network.found("primary")["pg2"], "e fit");
});

test("addresses are permuted under a version that states no name: each member is found at its new one", async (context) => {
  const nameless = (lists: Readonly<Record<string, string>>, leader: string): Record<string, ScriptedServer> =>
    Object.fromEntries(
      Object.entries(lists).map(([name, host]) => [
        host,
        { states: null, holdsLock: name === leader, lists, names: leader },
      ]),
    );
  const network = new ScriptedServers(context, { discover: ["a", "b", "c"], servers: nameless(truth, "pg2") });
  await network.pass(100);
  assert.deepEqual(network.found(), everyFit);
  const permuted = nameless({ pg1: "b", pg2: "c", pg3: "a" }, "pg2");
  for (const [host, server] of Object.entries(permuted)) network.servers.set(host, server);
  await network.pass(15_000);
  assert.deepEqual(network.found(), { pg1: "b fit", pg2: "c fit", pg3: "a fit" });
  assert.equal(network.found("primary")["pg2"], "c fit");
});

test("the DCS is down for ten minutes, so that lists hang: no member loses its address", async (context) => {
  const network = new ScriptedServers(context, { discover: ["a", "b", "c"], servers: honest });
  await network.pass(1_000);
  for (const [host, { lists: _, ...server }] of Object.entries(honest)) network.servers.set(host, server);
  for (let minute = 0; minute < 10; minute += 1) {
    await network.pass(60_000);
    assert.deepEqual(network.found(), everyFit);
  }
});

test("a member renamed in pause, while the old key is still there, is found under its new name", async (context) => {
  const network = new ScriptedServers(context, { discover: ["a", "b", "c"], servers: honest });
  await network.pass(1_000);
  const lists = { ...truth, pg2b: "b" };
  network.servers.set("a", { ...honest["a"]!, lists });
  network.servers.set("b", { ...honest["b"]!, states: "pg2b", lists });
  network.servers.set("c", { ...honest["c"]!, lists });
  await network.pass(8_000);
  assert.equal(network.found()["pg2b"], "b fit");
  assert.doesNotMatch(network.found()["pg2"] ?? "", / fit/);
  for (const host of ["a", "b", "c"]) {
    const server = network.servers.get(host) as ScriptedServer;
    network.servers.set(host, { ...server, lists: { pg1: "a", pg2b: "b", pg3: "c" }, names: "pg2b" });
  }
  await network.pass(12_000);
  assert.deepEqual(network.found("primary"), { pg1: "a wrong_role", pg3: "c wrong_role", pg2b: "b fit" });
});

test("a rolling restart, one node after another: the others stay fit, and each comes back at once", async (context) => {
  const network = new ScriptedServers(context, { discover: ["a", "b", "c"], servers: honest });
  await network.pass(1_000);
  for (const [name, host] of Object.entries(truth)) {
    network.servers.delete(host);
    await network.pass(5_000);
    const others = Object.entries(network.found()).filter(([other]) => other !== name);
    assert.ok(
      others.every(([, found]) => found.endsWith(" fit")),
      JSON.stringify(others),
    );
    network.servers.set(host, honest[host]!);
    await network.pass(6_000);
    assert.deepEqual(network.found(), everyFit);
  }
});

test("a pod comes back at a new address while a node of another cluster has its old one", async (context) => {
  const lists = { pg1: "a", pg2: "b" };
  const network = new ScriptedServers(context, {
    discover: ["a"],
    servers: { a: { states: "pg1", holdsLock: true, lists, names: "pg1" }, b: { states: "pg2", lists, names: "pg1" } },
  });
  await network.pass(1_000);
  assert.deepEqual(network.found(), { pg1: "a fit", pg2: "b fit" });
  const now = { lists: { pg1: "a", pg2: "d" }, names: "pg1" };
  for (const stranger of [{ scope: "other" }, { fields: { database_system_identifier: "7" } }]) {
    network.servers.set("a", { states: "pg1", holdsLock: true, ...now });
    network.servers.set("b", { states: "pg2", holdsLock: true, lists, names: "pg2", ...stranger });
    network.servers.set("d", { states: "pg2", ...now });
    await network.pass(8_000);
    assert.deepEqual(network.found(), { pg1: "a fit", pg2: "d fit" });
    assert.equal(network.found("primary")["pg1"], "a fit");
    network.servers.set("b", { states: "pg2", lists, names: "pg1" });
    network.servers.set("a", { states: "pg1", holdsLock: true, lists, names: "pg1" });
    network.servers.delete("d");
    await network.pass(12_000);
    assert.deepEqual(network.found(), { pg1: "a fit", pg2: "b fit" });
  }
});

test("a leader without a usable address in the lists is at the seed that answers under its name", async (context) => {
  const lists = { pg1: "a", pg2: null };
  const network = new ScriptedServers(context, {
    discover: ["a", "b"],
    servers: { a: { states: "pg1", lists, names: "pg2" }, b: { states: "pg2", holdsLock: true, lists, names: "pg2" } },
  });
  await network.pass(100);
  assert.deepEqual(network.found("primary"), { pg1: "a wrong_role", pg2: "b fit" });
});

test("two hosts that use one name: the member stays where it was, and both are known", async (context) => {
  const network = new ScriptedServers(context, { discover: ["a", "b", "c"], servers: honest });
  await network.pass(1_000);
  network.servers.set("d", { states: "pg3", lists: truth, names: "pg2" });
  for (const lists of [{ ...truth, pg3: "d" }, truth, { ...truth, pg3: "d" }]) {
    for (const host of ["a", "b", "c"]) network.servers.set(host, { ...honest[host]!, lists });
    await network.pass(10_000);
    assert.deepEqual(network.found(), everyFit);
    assert.deepEqual([...network.fixture.cluster.addressDisputes], [["pg3", ["http://c:8008", "http://d:8008"]]]);
  }
  network.servers.delete("c");
  await network.pass(15_000);
  assert.equal(network.found()["pg3"], "d fit");
});

test("a list of two thousand members costs sixteen connections at a time, and its members nothing", async (context) => {
  const many = Object.fromEntries(Array.from({ length: 2_000 }, (_, at) => [`n${at}`, `h${at}`]));
  const network = new ScriptedServers(context, {
    discover: ["a", "b", "c"],
    servers: { ...honest, a: { states: "pg1", lists: { ...many, ...truth } } },
  });
  await network.pass(20_000);
  const asked = Object.values(many).filter((host) => network.requestsTo(host) > 0);
  assert.ok(asked.length <= 32, `${asked.length} hosts`);
  assert.equal(network.found("primary")["pg2"], "b fit");
});

test("twenty members behind one Service are all found", async (context) => {
  const lists = Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`n${at}`, `h${at}`]));
  const servers = Object.fromEntries(
    Object.entries(lists).map(([name, host]) => [host, { states: name, holdsLock: name === "n0", lists, names: "n0" }]),
  );
  const network = new ScriptedServers(context, { discover: ["vip"], servers: { ...servers, vip: servers["h7"]! } });
  await network.pass(1_000);
  assert.ok(
    Object.values(network.found()).every((found) => found.endsWith(" fit")),
    JSON.stringify(network.found()),
  );
  assert.equal(Object.keys(network.found()).length, 20);
});

test("a configured address is asked for its list with each of its probes, also where their intervals are short", async (context) => {
  // pg1 is not in its own list yet: only a newer one tells who it is.
  const { pg1: _, ...others } = truth;
  const nameless = { states: null, lists: others, names: "pg2" };
  const network = new ScriptedServers(context, { discover: ["a", "b", "c"], servers: { ...honest, a: nameless } });
  network.random = 0;
  await network.pass(2_600);
  const before = network.requestsTo("a", "/cluster");
  await network.pass(9_000);
  assert.equal(network.requestsTo("a", "/cluster") - before, 4, "every 2.7 s");
  network.servers.set("a", { ...nameless, lists: truth });
  await network.pass(3_000);
  assert.equal(network.found()["pg1"], "a fit");
});
