import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { ClusterFixture, type FixtureOptions } from "../../../../fake/cluster-fixture.ts";
import type { StatusFields } from "../../../../fake/node-documents.ts";

/** What a node does each second: its answer to `GET /leader`, and whom its view names, "none" if it fails. */
interface Doing {
  readonly status: "leads" | "follows" | "silent";
  readonly view?: string | null;
  readonly fields?: StatusFields;
}

type Doings = { readonly [node: string]: Doing };

/** A cluster in which every node is probed each second, and gives a view every three seconds and at once on demand. */
class Rehearsal {
  readonly fixture: ClusterFixture;
  #atMs: number;

  constructor(options: FixtureOptions = {}, startMs = 100_000) {
    this.fixture = new ClusterFixture({
      policy: { intervalMs: 1_000, viewMaxAgeMs: 11_500, timeoutMs: 2_500 },
      ...options,
    });
    this.#atMs = startMs;
  }

  /** Lets some seconds pass. @returns which nodes were fit for `/primary` at any instant */
  pass(seconds: number, doings: Doings): ReadonlySet<string> {
    const fit = new Set<string>();
    const note = (): void => {
      for (const { node } of this.fixture.cluster.nodes)
        if (["fit", "degraded"].includes(this.fixture.judge(node.name, "/primary", this.#atMs))) fit.add(node.name);
    };
    for (let second = 0; second < seconds; second += 1) {
      for (const [node, doing] of Object.entries(doings)) {
        this.#status(node, doing);
        note();
      }
      this.#atMs += 100;
      if (second % 3 === 0)
        for (const [node, { view, status }] of Object.entries(doings)) {
          if (view === "none") this.fixture.failView(node, this.#atMs);
          else if (view !== undefined && status !== "silent") this.fixture.nameLeader(view, node, this.#atMs);
          note();
        }
      this.#atMs += 900;
      note();
    }
    return fit;
  }

  is(node: string): string {
    return this.fixture.judge(node, "/primary", this.#atMs);
  }

  #status(node: string, { status, fields = {} }: Doing): void {
    if (status === "leads") this.fixture.lead(node, this.#atMs, fields);
    else if (status === "follows") this.fixture.follow(node, this.#atMs, { replication_state: "streaming", ...fields });
    else this.fixture.fail(node, "timeout", this.#atMs);
  }
}

const leads = (view?: string | null): Doing => ({ status: "leads", ...(view === undefined ? {} : { view }) });
const follows = (view?: string | null, fields: StatusFields = {}): Doing => ({
  status: "follows",
  fields,
  ...(view === undefined ? {} : { view }),
});
const silent: Doing = { status: "silent" };
const idle = { replication_state: undefined };

/** pg1 leads, and pg2, a clone, claims the lock too. */
function besideLeader(more: Doings = { pg3: follows("pg1") }, options: FixtureOptions = {}): Rehearsal {
  const rehearsal = new Rehearsal(options);
  rehearsal.pass(6, { pg1: leads("pg1"), pg2: follows("pg1"), ...more });
  assert.deepEqual([...rehearsal.pass(6, { pg1: leads("pg1"), pg2: leads("pg2"), ...more })], ["pg1"]);
  return rehearsal;
}

suite("a claim that was refused beside another", () => {
  test("does not stand while the leader is silent for an hour, and a third node streams and names it", () => {
    const rehearsal = besideLeader();
    const fit = rehearsal.pass(3_600, { pg1: silent, pg2: leads("pg2"), pg3: follows("pg1") });
    assert.deepEqual([...fit].toSorted(), ["pg1"], "pg1 only until its claim is too old");
    assert.equal(rehearsal.is("pg2"), "superseded");
  });
  test("nor after an answer without the lock", () => {
    const rehearsal = besideLeader();
    rehearsal.pass(10, { pg1: silent, pg2: leads("pg2"), pg3: follows("pg1") });
    rehearsal.pass(1, { pg1: silent, pg2: follows(), pg3: follows() });
    assert.deepEqual([...rehearsal.pass(30, { pg1: silent, pg2: leads("pg2"), pg3: follows("pg1") })], []);
  });
  test("stands with the next view of a third node that names it", () => {
    const rehearsal = besideLeader();
    rehearsal.pass(8, { pg1: silent, pg2: leads("pg2"), pg3: follows("pg1") });
    assert.deepEqual([...rehearsal.pass(1, { pg1: silent, pg2: leads("pg2"), pg3: follows("pg2") })], ["pg2"]);
  });
  test("stands once no view of a third node counts any more, with /cluster hanging everywhere", () => {
    const rehearsal = besideLeader();
    assert.deepEqual([...rehearsal.pass(8, { pg1: silent, pg2: leads("none"), pg3: follows("none") })], ["pg1"]);
    assert.deepEqual([...rehearsal.pass(3, { pg1: silent, pg2: leads("none"), pg3: follows("none") })], ["pg2"]);
  });
  test("stands after ttl and loop_wait, if the third node that names the leader gets no WAL", () => {
    const rehearsal = besideLeader({ pg3: follows("pg1", idle) });
    assert.deepEqual([...rehearsal.pass(38, { pg1: silent, pg2: leads("pg2"), pg3: follows("pg1", idle) })], ["pg1"]);
    assert.deepEqual([...rehearsal.pass(3, { pg1: silent, pg2: leads("pg2"), pg3: follows("pg1", idle) })], ["pg2"]);
  });
  test("does not stand after that, if the third node receives WAL", () => {
    const rehearsal = besideLeader({ pg3: follows("pg1", idle) });
    for (let turn = 1; turn <= 40; turn += 1) {
      const more = { ...idle, xlog: { received_location: 1_000 + turn, replayed_location: 1_000 } };
      rehearsal.pass(3, { pg1: silent, pg2: leads("pg2"), pg3: follows("pg1", more) });
    }
    assert.equal(rehearsal.is("pg2"), "superseded");
  });
  test("does not stand while the lock passes to another node", () => {
    const rehearsal = besideLeader(
      { pg3: follows("pg1"), pg4: follows("pg1") },
      { nodes: ["pg1", "pg2", "pg3", "pg4"] },
    );
    const fit = rehearsal.pass(2, { pg1: follows(), pg2: leads("pg2"), pg3: follows("pg1"), pg4: follows("pg1") });
    assert.deepEqual([...fit], []);
    assert.deepEqual(
      [...rehearsal.pass(12, { pg1: follows("pg3"), pg2: leads("pg2"), pg3: leads("pg3"), pg4: follows("pg3") })],
      ["pg3"],
    );
  });
  test("stands at most one cluster interval after the leader has denied the lock, whatever old views name", () => {
    const rehearsal = besideLeader();
    assert.deepEqual([...rehearsal.pass(3, { pg1: follows("pg1"), pg2: leads("pg2"), pg3: follows("pg1") })], []);
    assert.deepEqual([...rehearsal.pass(3, { pg1: follows("pg1"), pg2: leads("pg2"), pg3: follows("pg1") })], ["pg2"]);
  });
  test("does not stand while a third node names nobody, except during a pause", () => {
    const rehearsal = besideLeader();
    rehearsal.pass(7, { pg1: silent, pg2: leads("pg2"), pg3: follows(null) });
    assert.deepEqual([...rehearsal.pass(40, { pg1: silent, pg2: leads("pg2"), pg3: follows(null) })], []);
    const paused: Doing = { status: "leads", view: "pg2", fields: { pause: true } };
    assert.deepEqual([...rehearsal.pass(4, { pg1: silent, pg2: paused, pg3: follows(null) })], ["pg2"]);
  });
  test("is not marked by a view that names its own witness", () => {
    const rehearsal = besideLeader({ pg3: follows("pg3") });
    assert.deepEqual([...rehearsal.pass(8, { pg1: silent, pg2: leads("pg2"), pg3: follows("pg3") })].toSorted(), [
      "pg1",
      "pg2",
    ]);
  });
  test("does not stand after a restart, unless a third node names it, or none has answered for 11.5 s", () => {
    const restarted = (): Rehearsal => new Rehearsal({ refused: { pg2: "pg1" } }, 0);
    assert.deepEqual([...restarted().pass(60, { pg1: silent, pg2: leads("pg2"), pg3: follows("pg1") })], []);
    assert.deepEqual([...restarted().pass(2, { pg1: silent, pg2: leads("pg2"), pg3: follows("pg2") })], ["pg2"]);
    const alone = restarted();
    assert.deepEqual([...alone.pass(11, { pg1: silent, pg2: leads("pg2"), pg3: silent })], []);
    assert.deepEqual([...alone.pass(2, { pg1: silent, pg2: leads("pg2"), pg3: silent })], ["pg2"]);
  });
  test("is not marked any more at another address", () => {
    const rehearsal = new Rehearsal({ refused: { pg2: "pg1" }, nodes: ["pg1", "pg2", "pg3"] }, 0);
    const { cluster } = rehearsal.fixture;
    const nodes = cluster.nodes.map((each) =>
      each.node.name === "pg2" ? { ...each, node: { ...each.node, api: "http://elsewhere:8008" } } : each,
    );
    rehearsal.fixture.cluster = { ...cluster, nodes };
    assert.deepEqual([...rehearsal.pass(1, { pg2: leads("none"), pg3: follows("none") })], ["pg2"]);
  });
  test("stands in a cluster of two as soon as the other claim is too old", () => {
    const rehearsal = besideLeader({}, { nodes: ["pg1", "pg2"] });
    assert.deepEqual([...rehearsal.pass(8, { pg1: silent, pg2: leads("pg2") })].toSorted(), ["pg1", "pg2"]);
  });
});
