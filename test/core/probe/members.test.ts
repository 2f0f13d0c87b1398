/** How a cluster's probers follow its members, and how the first members are found. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { NodeReply } from "../../../src/core/probe/client/client.ts";
import { jsonReply, runPendingTasks } from "../../fake/fake-transport.ts";
import { statusDocument } from "../../fake/node-documents.ts";
import { notSent, TimedProber } from "../../fake/timed-prober.ts";

/** Makes the nodes of `next` the members, and returns the origins whose connections the prober opens and closes. */
async function openedAndClosed(timed: TimedProber, next: TimedProber): Promise<readonly [string[], string[]]> {
  timed.opened.length = 0;
  await timed.requestedBy((state) => {
    const known = new Map(state.nodes.map((observation) => [observation.node.name, observation]));
    const nodes = next.fixture.cluster.nodes.map((observation) => {
      const before = known.get(observation.node.name);
      return before?.node.api === observation.node.api ? before : observation;
    });
    return { ...state, nodes, index: next.fixture.cluster.index };
  });
  const unique = (origins: readonly string[]): string[] => [...new Set(origins)];
  return [unique(timed.opened), unique(timed.closed)];
}

test("a node that joins gets connections, and those of the others stay", async () => {
  const timed = new TimedProber(["pg1", "pg2"]);
  await timed.start();
  const next = new TimedProber(["pg1", "pg2", "pg3"]);
  assert.deepEqual(await openedAndClosed(timed, next), [["http://pg3:8008"], []]);
});

test("where nothing is discovered, a member that another instance has told of is probed although nothing has proved it", async () => {
  const timed = new TimedProber(["pg1"]);
  await timed.start();
  const next = new TimedProber(["pg1", "pg2"]);
  const nodes = next.fixture.cluster.nodes.map((one) =>
    one.node.name === "pg2" ? ({ ...one, proof: "none" } as const) : one,
  );
  next.fixture.cluster = { ...next.fixture.cluster, nodes };
  assert.deepEqual(await openedAndClosed(timed, next), [["http://pg2:8008"], []]);
});

test("the connections of a node that leaves are closed, also if it is the last one in the list", async () => {
  for (const [name, others] of [
    ["pg3", ["pg1", "pg2"]],
    ["pg1", ["pg2", "pg3"]],
  ] as const) {
    const timed = new TimedProber();
    await timed.start();
    assert.deepEqual(await openedAndClosed(timed, new TimedProber(others)), [[], [`http://${name}:8008`]]);
  }
});

test("the only node of a cluster is followed to its new address", async () => {
  const timed = new TimedProber(["pg1"]);
  await timed.start();
  const moved = new TimedProber(["pg1"]);
  const [observation] = moved.fixture.cluster.nodes;
  assert.ok(observation !== undefined);
  const nodes = [{ ...observation, node: { ...observation.node, api: "http://elsewhere:8008" } }];
  moved.fixture.cluster = { ...moved.fixture.cluster, nodes };
  assert.deepEqual(await openedAndClosed(timed, moved), [["http://elsewhere:8008"], ["http://pg1:8008"]]);
});

const seeds = ["http://seed1:8008", "http://seed2:8008"];

test("the first round asks every configured address at once who answers there, and for its list", async () => {
  const timed = new TimedProber([], seeds);
  await timed.prober.start();
  assert.deepEqual(timed.requests(), ["seed1/cluster", "seed1/leader", "seed2/cluster", "seed2/leader"]);
});

test("the first round goes on to the members that the lists give, and to the documents of those that prove themselves", async () => {
  const timed = new TimedProber([], seeds);
  const members = ["pg1", "pg2"].map((name) => ({ name, role: "replica", api_url: `http://${name}:8008/patroni` }));
  const status = (name: string): NodeReply =>
    jsonReply(statusDocument(name, { role: "replica", patroni: { version: "4.1.4", scope: "demo", name } }), 503);
  timed.respond = (url) => {
    if (url.endsWith("/cluster")) return jsonReply({ scope: "demo", members });
    if (!url.endsWith("/leader")) return notSent;
    return url.includes("pg2") ? notSent : status("pg1");
  };
  await timed.prober.start();
  const requests = timed.requests();
  assert.deepEqual(
    requests.filter((request) => request.endsWith("/leader")),
    ["pg1/leader", "pg1/leader", "pg2/leader", "seed1/leader", "seed2/leader"],
    "pg1 once as an address, and once as a node",
  );
  assert.deepEqual(
    requests.filter((request) => request.startsWith("pg2/")),
    ["pg2/leader"],
    "an address that has not proved itself is asked for nothing else",
  );
  assert.ok(requests.includes("pg1/config"));
});

test("the first round goes on to a member that only the list of a member gives, because no seed answers", async () => {
  const timed = new TimedProber(["pg1"], seeds);
  const members = ["pg1", "pg2"].map((name) => ({ name, role: "replica", api_url: `http://${name}:8008/patroni` }));
  timed.respond = (url) => {
    if (url.includes("seed")) return notSent;
    if (url.endsWith("/cluster")) return jsonReply({ scope: "demo", members });
    if (!url.endsWith("/leader")) return notSent;
    const { hostname: name } = new URL(url);
    return jsonReply(statusDocument(name), 503);
  };
  await timed.prober.start();
  assert.deepEqual(
    timed.requests().filter((request) => request === "pg2/leader"),
    ["pg2/leader", "pg2/leader"],
    "as an address, and as a node",
  );
  assert.equal(timed.firstRounds, 1);
});

test("the documents of the first round wait for no node that hangs", async () => {
  const list = ["pg1", "pg2"].map((name) => ({ name, role: "replica", api_url: `http://${name}:8008/patroni` }));
  for (const timed of [new TimedProber(["pg1", "pg2"]), new TimedProber([], ["http://pg1:8008"])]) {
    timed.respond = (url) => {
      const { hostname: name, pathname } = new URL(url);
      if (name === "pg2") return new Promise(() => {});
      if (pathname === "/cluster") return jsonReply({ scope: "demo", members: list });
      return pathname === "/leader" ? jsonReply(statusDocument(name), 503) : notSent;
    };
    void timed.prober.start();
    await runPendingTasks();
    assert.ok(timed.requests().includes("pg1/config"));
    timed.prober.stop();
  }
});

test("a prober that is stopped during its first round asks nothing more", async () => {
  const timed = new TimedProber([], seeds);
  timed.respond = () => {
    timed.prober.stop();
    return notSent;
  };
  await timed.prober.start();
  assert.deepEqual(timed.requests(), ["seed1/leader"]);
  assert.equal(timed.firstRounds, 0, "it says nothing about its cluster");
});
