import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { Drain } from "../../../../src/core/cluster/drain.ts";
import type { ProbeContext } from "../../../../src/core/probe/client/probe-context.ts";
import { chooseDocumentSource, chooseRoundSources } from "../../../../src/core/probe/documents/document-source.ts";
import { neverReplies, FakeTransport } from "../../../fake/fake-transport.ts";
import { answeringCluster, ClusterFixture } from "../../../fake/cluster-fixture.ts";

test("chooses the answering nodes in turn; without any, all nodes in turn", (context) => {
  const watched = answeringCluster();
  const scripted = new FakeTransport(context, watched, neverReplies);
  const probeContext = scripted.context();
  const chosen = (turns: number): readonly (string | undefined)[] =>
    Array.from({ length: turns }, (_, at) => chooseDocumentSource(probeContext, at)?.name);
  assert.deepEqual(chosen(3), ["pg1", "pg2", "pg3"]);
  watched.fail("pg2", "timeout", 1);
  watched.follow("pg3", 1, { patroni: { version: "4.1.4", scope: "other", name: "pg3" } });
  assert.deepEqual(chosen(2), ["pg1", "pg1"], "neither one that fails nor one of another scope");
  watched.fail("pg1", "timeout", 2);
  assert.deepEqual(chosen(4), ["pg1", "pg2", "pg3", "pg1"]);
  assert.equal(
    chooseDocumentSource({ ...probeContext, state: () => new ClusterFixture({ nodes: [] }).cluster }, 0),
    null,
  );
});

test("a distrusted node has no turn and no place in a round until that ends", (context) => {
  const watched = answeringCluster();
  const drain = { reason: "old primary", by: null, since: "", until: "", untilMs: 1_000 };
  const drained = (extent: Drain["extent"]): ProbeContext => ({
    ...scripted.context(),
    state: () => ({ ...watched.cluster, drains: new Map([["pg1", { ...drain, extent }]]) }),
  });
  const scripted = new FakeTransport(context, watched, neverReplies);
  const chosen = (probes: ProbeContext): readonly (string | undefined)[] =>
    [0, 1, 2].map((turn) => chooseDocumentSource(probes, turn)?.name);
  const asked = (probes: ProbeContext): readonly string[] => chooseRoundSources(probes, 0).map(({ name }) => name);
  assert.deepEqual(chosen(drained("distrust")), ["pg2", "pg3", "pg2"]);
  assert.deepEqual(asked(drained("distrust")), ["pg2", "pg3"], "not even as the holder");
  assert.deepEqual(chosen(drained("all")), ["pg1", "pg2", "pg3"], "what a drained node says counts");
  scripted.nowMs = 1_000;
  assert.deepEqual(chosen(drained("distrust")), ["pg1", "pg2", "pg3"], "the time is over");
  scripted.nowMs = 999;
  watched.fail("pg2", "timeout", 1);
  assert.deepEqual(chosen(drained("distrust")), ["pg3", "pg3", "pg3"]);
  watched.fail("pg3", "timeout", 1);
  assert.deepEqual(chosen(drained("distrust")), ["pg2", "pg3", "pg2"], "rather those that do not answer");
});

/** `pg1`, `pg2` and so on: those up to `claims` claim the lock, the others up to `answering` follow. */
function largeCluster(context: TestContext, { nodes, claims, answering = nodes }: Counts) {
  const names = Array.from({ length: nodes }, (_, at) => `pg${at + 1}`);
  const watched = new ClusterFixture({ nodes: names });
  for (const [at, name] of names.slice(0, answering).entries()) {
    if (at < claims) watched.lead(name, 0);
    else watched.follow(name, 0);
  }
  const probeContext = new FakeTransport(context, watched, neverReplies).context();
  return { watched, names, round: (turn: number) => chooseRoundSources(probeContext, turn).map(({ name }) => name) };
}

interface Counts {
  readonly nodes: number;
  readonly claims: number;
  readonly answering?: number;
}

test("a round asks those that claim the lock, then the others that answer, each once", (context) => {
  const { watched, round } = largeCluster(context, { nodes: 5, claims: 2, answering: 4 });
  assert.deepEqual(round(1), ["pg1", "pg2", "pg3", "pg4"]);
  watched.fail("pg2", "timeout", 1);
  watched.fail("pg3", "timeout", 1);
  assert.deepEqual(round(2), ["pg1", "pg2", "pg4"], "a claimant that does not answer is asked");
});

test("32 nodes take part in each round, always the claimants, and the others in turn", (context) => {
  const { names, round } = largeCluster(context, { nodes: 40, claims: 2 });
  const others = names.slice(2);
  const rounds = [0, 1, 2].map(round);
  assert.deepEqual(rounds[0], ["pg1", "pg2", ...others.slice(0, 30)]);
  assert.deepEqual(rounds[1], ["pg1", "pg2", ...others.slice(30), ...others.slice(0, 22)]);
  assert.deepEqual(rounds[2], ["pg1", "pg2", ...others.slice(22), ...others.slice(0, 14)]);
});

test("more claimants than fit into a round leave no place for the others", (context) => {
  const { names, round } = largeCluster(context, { nodes: 40, claims: 35 });
  assert.deepEqual(round(1), names.slice(0, 32));
});

test("a node without an API takes no place in a round", (context) => {
  const names = Array.from({ length: 32 }, (_, at) => `pg${at + 1}`);
  const exported = Array.from({ length: 8 }, (_, at) => `ex${at + 1}`);
  const watched = new ClusterFixture({
    nodes: [...exported.map((name) => ({ name, api: null, exporter: `http://${name}:9630` })), ...names],
  });
  watched.lead("pg1", 0);
  for (const name of names.slice(1)) watched.follow(name, 0);
  for (const node of exported) {
    const result = { endpoint: "up", role: "replica" } as const;
    watched.record({ kind: "exporter", cluster: "demo", node, sentAtMs: 0, sentAtWallMs: 0, result }, 0);
  }
  const probeContext = new FakeTransport(context, watched, neverReplies).context();
  assert.deepEqual(
    chooseRoundSources(probeContext, 1).map(({ name }) => name),
    names,
  );
});

test("a node that is down until it has answered several times is not asked before", (context) => {
  const watched = new ClusterFixture({ policy: { rise: 2, fall: 1 } });
  const scripted = new FakeTransport(context, watched, neverReplies);
  const chosen = (): readonly (string | undefined)[] =>
    [0, 1].map((turn) => chooseDocumentSource(scripted.context(), turn)?.name);
  watched.follow("pg1", 0);
  watched.follow("pg2", 0);
  watched.fail("pg1", "timeout", 1);
  watched.follow("pg1", 2);
  assert.deepEqual(chosen(), ["pg2", "pg2"]);
  watched.follow("pg1", 3);
  assert.deepEqual(chosen(), ["pg1", "pg2"]);
});
