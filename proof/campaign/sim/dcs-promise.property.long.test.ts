/**
 * The promise of the DCS watch against rolecall's own judgement, in random histories that no model bounds: any node may
 * claim the lock at any time, whomever the key and the views name.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { ClusterFixture } from "../../../test/fake/cluster-fixture.ts";
import { profiles } from "../profile.ts";
import { questionOf, type Said } from "../rolecall/asker.ts";
import { Evidence } from "../wire/evidence.ts";
import type { Served } from "../wire/served.ts";
import { DcsPromise } from "./dcs-promise.ts";
import { VirtualTime } from "./virtual-time.ts";

const names = ["pg1", "pg2", "pg3"] as const;
const node = fc.constantFrom(...names);
const named = fc.constantFrom(...names, null);

/**
 * What changes: of the leader key, of a node's claim, answers and view, or whether the DCS can be read. A view may name
 * whom the key names ("key"), or fail ("failing").
 */
type Change =
  | { readonly key: string | null; readonly isClaimed: boolean }
  | { readonly claims: string }
  | { readonly silent: string }
  | { readonly viewOf: string; readonly names: string | null }
  | { readonly dcs: "up or down" };

const change: fc.Arbitrary<Change> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ key: named, isClaimed: fc.boolean() }) },
  { weight: 5, arbitrary: fc.record({ claims: node }) },
  { weight: 3, arbitrary: fc.record({ silent: node }) },
  {
    weight: 4,
    arbitrary: fc.record({
      viewOf: node,
      names: fc.oneof(named, fc.constantFrom("key", "failing")),
    }),
  },
  { weight: 2, arbitrary: fc.constant({ dcs: "up or down" as const }) },
);
/** A change, after a time: so long that claims go on for a whole ttl, or within a round of probes. */
interface Step {
  readonly afterMs: number;
  readonly change: Change;
}

const step: fc.Arbitrary<Step> = fc.record({
  afterMs: fc.oneof(fc.integer({ min: 50, max: 1_000 }), fc.integer({ min: 1_000, max: 20_000 })),
  change,
});
/** How late an answer is, in turn: most are immediate, some come near the timeout. */
const latencies = fc.array(fc.oneof({ weight: 6, arbitrary: fc.constant(1) }, fc.integer({ min: 1, max: 600 })), {
  minLength: 7,
  maxLength: 40,
});

/**
 * The key names one node after the other. The first claim goes on for a whole ttl after that: the watch is distrusted.
 * Once it ends, the watch is trusted again, and withdraws the next claim.
 */
const distrusted: readonly Step[] = ["pg2", "pg3", "pg1", "pg2", "pg3", "pg1"].flatMap((key) => [
  { afterMs: 5_000, change: { key, isClaimed: true } },
  { afterMs: 40_000, change: { claims: previousOf(key) } },
  { afterMs: 5_000, change: { key: previousOf(key), isClaimed: true } },
  { afterMs: 5_000, change: { claims: key } },
  { afterMs: 5_000, change: { key, isClaimed: true } },
  { afterMs: 5_000, change: { claims: previousOf(key) } },
]);

class History {
  readonly time = new VirtualTime();
  readonly armed = new Map<string, number>();
  readonly violations: string[] = [];
  readonly #watched = new ClusterFixture({
    nodes: [...names],
    cluster: { dcs: { etcd: ["http://127.0.0.1:2379"], prefix: "/service", scope: null, tls: null, auth: null } },
  });
  readonly #profile = { ...profiles.default, ttlMs: 30_000 };
  readonly #evidence = new Evidence(this.#profile, "demo");
  readonly #promise = new DcsPromise({
    armed: this.armed,
    replacedMs: new Map(),
    namedUntilMs: new Map(),
    evidence: this.#evidence,
    profile: this.#profile,
  });
  readonly #latencies: readonly number[];
  #key: string | null = "pg1";
  readonly #claimants = new Set<string>(["pg1"]);
  readonly #silent = new Set<string>();
  readonly #views = new Map<string, string | null>();
  #isReadable = true;
  #requests = 0;

  constructor(late: readonly number[]) {
    this.#latencies = late;
    const { time } = this;
    every(time, 1_000, 1_000, () => names.forEach((name) => this.#probe(name)));
    every(time, 3_000, 1_000, () => this.#read());
    every(time, 100, 1_000, () => {
      if (!this.#isReadable) this.#promise.disturb(time.nowMs);
    });
    every(time, 150, 1_100, () => this.#judge());
    every(time, 3_000, 1_200, () => names.forEach((name) => this.#view(name)));
  }

  apply(made: Change): void {
    if ("key" in made) {
      this.#key = made.key;
      if (made.key !== null && made.isClaimed) this.#claimants.add(made.key);
      this.#read();
    } else if ("claims" in made) toggle(this.#claimants, made.claims);
    else if ("silent" in made) toggle(this.#silent, made.silent);
    else if ("viewOf" in made) this.#views.set(made.viewOf, made.names);
    else {
      this.#isReadable = !this.#isReadable;
      this.#read();
    }
  }

  #probe(name: string): void {
    const sentMs = this.time.nowMs;
    if (this.#silent.has(name)) {
      this.#watched.fail(name, "timeout", sentMs);
      return;
    }
    const hasLock = this.#claimants.has(name);
    const served: Served = {
      node: name,
      kind: "status",
      path: "/leader",
      arrivedMs: sentMs,
      doneMs: null,
      isBroken: false,
      status: hasLock ? 200 : 503,
      document: { role: hasLock ? "primary" : "replica", patroni: { scope: "demo", name } },
      isGenuine: true,
    };
    this.#evidence.note(served);
    this.#requests += 1;
    const latencyMs = this.#latencies[this.#requests % this.#latencies.length] ?? 1;
    const doneMs = sentMs + latencyMs;
    this.time.after("world", latencyMs, () => {
      served.doneMs = doneMs;
      if (hasLock) this.#watched.lead(name, doneMs + 1, {}, sentMs);
      else this.#watched.answer(name, { fields: {} }, doneMs + 1, sentMs);
    });
  }

  #read(): void {
    const sentMs = this.time.nowMs;
    const leader = this.#isReadable ? this.#key : "unreadable";
    if (leader === "unreadable") this.#promise.disturb(sentMs);
    this.time.after("world", 2, () => {
      if (leader !== "unreadable") this.#promise.read(leader, sentMs + 2, sentMs);
      this.#watched.readDcs(leader, sentMs);
    });
  }

  #view(name: string): void {
    const leader = this.#views.has(name) ? (this.#views.get(name) ?? null) : "key";
    if (this.#silent.has(name) || leader === "failing") this.#watched.failView(name, this.time.nowMs);
    else this.#watched.nameLeader(leader === "key" ? this.#key : leader, name, this.time.nowMs);
  }

  #judge(): void {
    const askedMs = this.time.nowMs;
    const answers = names.map((name): Said => {
      const status = this.#watched.judge(name, "/primary", askedMs) === "fit" ? 200 : 503;
      const rest = { phrase: "", headers: new Map<string, string>(), body: "", word: null };
      return { ...questionOf("demo", name, "/primary"), askedMs, answeredMs: askedMs, status, ...rest };
    });
    for (const { node: accused, detail } of this.#promise.judge(answers))
      this.violations.push(`${askedMs}: ${accused} ${detail}`);
  }
}

function every(time: VirtualTime, periodMs: number, afterMs: number, run: () => void): void {
  const runAndRepeat = (): void => {
    run();
    time.after("world", periodMs, runAndRepeat);
  };
  time.after("world", afterMs, runAndRepeat);
}

function previousOf(name: string): string {
  return names[(names.findIndex((one) => one === name) + names.length - 1) % names.length] ?? "";
}

function toggle(set: Set<string>, name: string): void {
  if (!set.delete(name)) set.add(name);
}

test("the promise of the DCS watch accuses rolecall in no history", { timeout: 170_000 }, async () => {
  const armed = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 30 }), latencies, async (steps, late) => {
      const history = new History(late);
      let atMs = 6_000;
      for (const { afterMs, change: made } of steps) {
        atMs += afterMs;
        await history.time.run(atMs);
        history.apply(made);
      }
      await history.time.run(atMs + 5_000);
      for (const [rule, count] of history.armed) armed.set(rule, (armed.get(rule) ?? 0) + count);
      assert.deepEqual(history.violations, []);
    }),
    { numRuns: Number(process.env["DCS_HISTORIES"] ?? 150), examples: [[[...distrusted], [1]]] },
  );
  // It had to hold, before and after a distrust.
  assert.ok(
    (armed.get("dcs-replaced") ?? 0) > 50 && (armed.get("dcs-replaced after a distrust") ?? 0) > 5,
    [...armed].join(" "),
  );
});
