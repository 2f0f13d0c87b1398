/** Which servers of the cluster there are, and what is known of them (rule 10). Addresses are hosts, as `p`. */
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { noContact, type Contact } from "../../../../../src/core/cluster/contact.ts";
import type { Drain } from "../../../../../src/core/cluster/drain.ts";
import { neverProbed, type Observation, type Proof } from "../../../../../src/core/cluster/observation.ts";
import type { ClusterState } from "../../../../../src/core/cluster/snapshot.ts";
import type { Report } from "../../../../../src/core/cluster/documents/report.ts";
import { distrustedServers, serversOf, type Server } from "../../../../../src/core/health/evidence/node/servers.ts";
import { discovered, withNodes } from "../../../../../src/core/health/observe/membership.ts";
import { ClusterFixture } from "../../../../fake/cluster-fixture.ts";
import { listingView, memberAt } from "../../../../fake/listing-view.ts";
import { reportOf } from "../../../../fake/node-documents.ts";
import { serverNameRows, type Lists, type Said } from "./servers-rows.ts";

const { cluster: empty, policy } = new ClusterFixture({ nodes: [], cluster: { discover: [urlOf("s")] } });

function urlOf(host: string): string {
  return `http://${host}:8008`;
}

function viewOf(lists: Lists) {
  return listingView(Object.fromEntries(Object.entries(lists).map(([name, host]) => [name, urlOf(host)])));
}

function reportBy({ states = null, scope = "demo", isUnreadable = false }: Said): Report {
  const report = reportOf("", { patroni: { version: "4.1.4", scope, ...(states === null ? {} : { name: states }) } });
  return isUnreadable ? { ...report, unreadable: ["name"] } : report;
}

function contactWith(said: Said): Contact {
  const report = said.states === undefined ? null : reportBy(said);
  const answer = report === null ? null : { report, hasLock: false, sentAtMs: 0, sentAtWallMs: 0 };
  return { ...noContact, answer, view: said.lists === undefined ? null : viewOf(said.lists) };
}

function nodeWith(member: string, host: string, said: Said, proof: Proof = "proved"): Observation {
  const report = said.states === undefined ? null : reportBy(said);
  return { ...neverProbed(discovered(memberAt(member, urlOf(host)))), proof, report };
}

/** A cluster of these nodes, with what is known at other addresses. */
function clusterWith(
  nodes: readonly Observation[],
  contacts: readonly (readonly [host: string, contact: Contact])[],
): ClusterState {
  const known = withNodes({ ...empty, scope: "demo" }, nodes);
  return { ...known, contacts: new Map(contacts.map(([host, contact]) => [urlOf(host), contact])) };
}

function serverAtP(cluster: ClusterState, under = policy): Server | undefined {
  return serversOf(cluster, under).get(urlOf("p"));
}

suite("which member a server is", () => {
  for (const { given, at, proved, others = [], name } of serverNameRows)
    test(given, () => {
      const voters = others.map(
        (lists, index) => [`s${index}`, contactWith({ states: `seed${index}`, lists })] as const,
      );
      const nodes = proved === undefined ? [] : [nodeWith(proved, "p", at)];
      const cluster = clusterWith(nodes, proved === undefined ? [...voters, ["p", contactWith(at)]] : voters);
      const views = proved === undefined || at.lists === undefined ? [] : [[proved, viewOf(at.lists)] as const];
      const server = serverAtP({ ...cluster, leaderViews: new Map(views) });
      assert.equal(server === undefined ? "none" : server.name, name);
    });
});

suite("a node is a server by itself", () => {
  for (const [proof, isServer] of [
    ["none", false],
    ["seed", true],
    ["proved", true],
    ["settled", true],
  ] as const)
    test(`proof ${proof}: ${isServer}`, () => {
      const server = serverAtP(clusterWith([nodeWith("pg2", "p", { states: "pg2" }, proof)], []));
      assert.equal(server?.name, isServer ? "pg2" : undefined);
      // It has its address: how often it answered under its name is not counted.
      assert.equal(server?.namedInRow, isServer ? 0 : undefined);
    });

  test("not without an API", () => {
    const known = nodeWith("pg2", "p", { states: "pg2" });
    const cluster = clusterWith([{ ...known, node: { ...known.node, api: null } }], []);
    assert.deepEqual([...serversOf(cluster, policy)], []);
  });
});

test("what is known of a server at an address that is no node's", () => {
  const contact = { ...contactWith({ states: "pg2", lists: { pg2: "p" } }), namedInRow: 2, failuresInRow: 1 };
  assert.deepEqual(serverAtP(clusterWith([], [["p", contact]])), {
    api: urlOf("p"),
    name: "pg2",
    answers: true,
    isConfigured: false,
    isOfOtherSystem: false,
    list: contact.view,
    stated: contact.answer?.report,
    namedInRow: 2,
  });
});

test("a server answers until it has failed as often in a row as makes a node down", () => {
  for (const [failuresInRow, answers] of [
    [policy.fall - 1, true],
    [policy.fall, false],
  ] as const) {
    const contact = { ...contactWith({ states: "pg2" }), failuresInRow };
    assert.equal(serverAtP(clusterWith([], [["p", contact]]))?.answers, answers, "at an address that is no node's");
    const known = { ...nodeWith("pg2", "p", { states: "pg2" }), failuresInRow };
    assert.equal(serverAtP(clusterWith([known], []))?.answers, answers, "a node");
  }
});

test("a server is configured if its address is", () => {
  const cluster = clusterWith([], [["p", contactWith({ states: "pg2" })]]);
  assert.equal(serverAtP(cluster, { ...policy, configured: [urlOf("q")] })?.isConfigured, false);
  assert.equal(serverAtP(cluster, { ...policy, configured: [urlOf("q"), urlOf("p")] })?.isConfigured, true);
});

suite("a server is of another system than the leader's", () => {
  const own = "7000000000000000001";
  for (const [given, ofLeader, stated, isOther] of [
    ["both are the same", own, own, false],
    ["they differ", "7000000000000000009", own, true],
    ["the leader's is unknown", null, own, false],
    ["the server states none", own, null, false],
    ["neither is known", null, null, false],
  ] as const)
    test(`${given}: ${isOther}`, () => {
      const report = { ...reportBy({ states: "pg2" }), system: stated };
      const cluster = clusterWith([{ ...nodeWith("pg2", "p", {}), report }], []);
      const position = { system: ofLeader, timeline: 1, highest: 1_000, peak: null, shared: [] };
      assert.equal(serverAtP({ ...cluster, position })?.isOfOtherSystem, isOther);
    });

  test("not if there is no position of a leader, or no answer of the server", () => {
    const silent = clusterWith([nodeWith("pg2", "p", {})], []);
    const position = { system: own, timeline: 1, highest: 1_000, peak: null, shared: [] };
    assert.equal(serverAtP({ ...silent, position })?.isOfOtherSystem, false);
    assert.equal(serverAtP(clusterWith([nodeWith("pg2", "p", { states: "pg2" })], []))?.isOfOtherSystem, false);
  });
});

suite("the servers of nodes that an operator distrusts", () => {
  const drain: Drain = { reason: "", by: null, extent: "distrust", untilMs: 5_000, since: "", until: "" };
  const named = {
    ...nodeWith("pg1", "a", { states: "pg1" }),
    node: { ...discovered(memberAt("db1", urlOf("a"))), name: "pg1" },
  };
  const cluster = clusterWith(
    [named],
    [
      ["b", contactWith({ states: "pg2" })],
      ["c", contactWith({ states: "db1" })],
      ["d", contactWith({ states: "pg2" })],
      ["e", contactWith({ states: null })],
    ],
  );
  const table: readonly (readonly [given: string, drains: Readonly<Record<string, Drain>>, hosts: string])[] = [
    ["nobody is drained", {}, ""],
    ["a node, by its member name", { pg1: drain }, "c"],
    ["a member that is no node, by its name", { pg2: drain }, "b d"],
    ["both", { pg1: drain, pg2: drain }, "b c d"],
    ["a member that no server is", { pg9: drain }, ""],
    ["a drain that leaves what it states", { pg2: { ...drain, extent: "all" } }, ""],
    ["a drain that has expired", { pg2: { ...drain, untilMs: 1_000 } }, ""],
  ];
  for (const [given, drains, hosts] of table)
    test(given, () => {
      const drained = { ...cluster, drains: new Map(Object.entries(drains)) };
      const apis = distrustedServers(drained, { policy, nowMs: 1_000 });
      assert.deepEqual(
        [...apis].toSorted(),
        hosts
          .split(" ")
          .filter((host) => host !== "")
          .map(urlOf),
      );
    });
});
