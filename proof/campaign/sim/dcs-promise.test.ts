import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { questionOf, type Said } from "../rolecall/asker.ts";
import { profiles } from "../profile.ts";
import type { Claim } from "../wire/claims.ts";
import { DcsPromise } from "./dcs-promise.ts";

type Denials = ConstructorParameters<typeof DcsPromise>[0]["evidence"];

const never: Denials = {
  hasDenied: () => false,
  mayHaveDenied: () => false,
  mayHaveFlagged: () => false,
  claims: { longest: () => null, shortest: () => null, surelyLastedMs: () => 0 },
};

type Longest = (node: string) => Claim | null;

function withLongest(longest: Longest): Denials {
  return { ...never, claims: { ...never.claims, longest } };
}

function primary(node: string, status: number, askedMs: number): Said {
  const rest = { phrase: "", headers: new Map<string, string>(), body: "", word: null };
  return { ...questionOf("c1", node, "/primary"), askedMs, answeredMs: askedMs, status, ...rest };
}

/** A promise before any read of the leader key. */
function promiseOf(evidence: Denials): DcsPromise {
  return new DcsPromise({
    armed: new Map(),
    replacedMs: new Map(),
    namedUntilMs: new Map(),
    evidence,
    profile: profiles.default,
  });
}

/** The leader key names pg1, which is fit, and then pg2. */
function replaced(evidence: Denials = never): DcsPromise {
  const promise = promiseOf(evidence);
  promise.read("pg1", 1_000, 1_000);
  assert.deepEqual(promise.judge([primary("pg1", 200, 1_500)]), []);
  promise.read("pg2", 2_000, 1_990);
  return promise;
}

suite("the promise of the DCS watch", () => {
  test("ends when the claim has gone on for a whole ttl", () => {
    const claimedFor = (newestMs: number): Denials => withLongest(() => ({ firstMs: 0, newestMs }));
    assert.deepEqual(replaced(claimedFor(14_000)).judge([primary("pg1", 200, 14_100)]), []);
    assert.equal(replaced(claimedFor(13_900)).judge([primary("pg1", 200, 14_100)]).length, 1);
  });

  test("ends for all members if the key names one again whose claim has gone on for a whole ttl", () => {
    for (const [lastMs, broken] of [
      [14_000, 0],
      [13_900, 1],
    ] as const) {
      let newestMs = 13_900;
      const evidence = withLongest((node) => (node === "pg1" ? { firstMs: 0, newestMs } : null));
      const promise = replaced(evidence);
      assert.deepEqual(promise.judge([primary("pg2", 200, 13_930)]), []);
      promise.read(null, 13_940, 13_939);
      newestMs = lastMs;
      promise.read("pg1", 14_001, 14_000);
      assert.equal(promise.judge([primary("pg2", 200, 14_100)]).length, broken);
    }
  });

  test("goes on for the others if a later claim of a member that has denied goes on for a whole ttl", () => {
    const late = (node: string): { firstMs: number; newestMs: number } | null =>
      node === "pg1" ? { firstMs: 40_000, newestMs: 52_000 } : null;
    for (const [isDenied, broken] of [
      [true, 1],
      [false, 0],
    ] as const) {
      let longest: Longest = () => null;
      const hasDenied = (node: string): boolean => isDenied && node === "pg1";
      const promise = replaced({ ...withLongest((node) => longest(node)), hasDenied });
      assert.deepEqual(promise.judge([primary("pg2", 200, 20_000)]), []);
      longest = late;
      assert.deepEqual(promise.judge([primary("pg2", 503, 52_100)]), []);
      promise.read(null, 53_000, 52_999);
      assert.equal(promise.judge([primary("pg2", 200, 53_100)]).length, broken);
    }
  });

  suite("after a distrust by the claim of pg1", () => {
    /** The key names pg2 since 2,000 ms, and pg1 has claimed the lock until 14,000 ms. */
    function distrusted(surelyLastedMs = 13_000): DcsPromise {
      const longest: Longest = (node) => (node === "pg1" ? { firstMs: 0, newestMs: 14_000 } : null);
      const claims = { ...never.claims, longest, surelyLastedMs: () => surelyLastedMs };
      const promise = replaced({ ...never, claims });
      assert.deepEqual(promise.judge([primary("pg1", 200, 14_100)]), []);
      return promise;
    }
    /** Whether a yes of `node` breaks the promise once the key has named pg3 for 100 ms. */
    function breaks(promise: DcsPromise, node: string): boolean {
      promise.read("pg3", 20_000, 19_999);
      return promise.judge([primary(node, 200, 20_100)]).length > 0;
    }

    test("holds again once the key names another member that has a yes", () => {
      const promise = distrusted();
      assert.deepEqual(promise.judge([primary("pg2", 200, 15_000)]), []);
      assert.ok(breaks(promise, "pg2"));
    });

    test("does not hold again without a yes of that member, nor by the yes of the member that caused it", () => {
      assert.ok(!breaks(distrusted(), "pg2"));
      const denied = distrusted();
      assert.deepEqual(denied.judge([primary("pg2", 503, 15_000)]), []);
      assert.ok(!breaks(denied, "pg2"));
      const cause = distrusted();
      cause.read("pg1", 15_000, 14_999);
      assert.deepEqual(cause.judge([primary("pg1", 200, 15_100)]), []);
      assert.ok(!breaks(cause, "pg1"));
    });

    test("does not hold again while the DCS cannot be read", () => {
      const promise = distrusted();
      promise.disturb(14_900);
      assert.deepEqual(promise.judge([primary("pg2", 200, 15_000)]), []);
      assert.ok(!breaks(promise, "pg2"));
      const healed = distrusted();
      healed.disturb(14_900);
      healed.read("pg2", 14_950, 14_940);
      assert.deepEqual(healed.judge([primary("pg2", 200, 15_000)]), []);
      assert.ok(breaks(healed, "pg2"));
    });

    test("does not count what was read before", () => {
      const promise = distrusted();
      assert.deepEqual(promise.judge([primary("pg2", 200, 15_000), primary("pg1", 200, 15_000)]), []);
      assert.deepEqual(promise.judge([primary("pg1", 200, 15_100)]), []);
    });

    // rolecall may distrust the watch a little later, when pg2 does not lead any more.
    test("does not hold again before the claim has surely gone on for a whole ttl", () => {
      const promise = distrusted(11_900);
      assert.deepEqual(promise.judge([primary("pg2", 200, 15_000)]), []);
      assert.ok(!breaks(promise, "pg2"));
    });
  });

  test("ends for a new claim while the DCS cannot be read, and for no other", () => {
    const evidence: Denials = {
      ...never,
      claims: { ...never.claims, shortest: () => ({ firstMs: 9_000, newestMs: 9_500 }) },
    };
    const promise = replaced(evidence);
    assert.equal(promise.judge([primary("pg1", 200, 9_600)]).length, 1);
    promise.disturb(9_700);
    assert.deepEqual(promise.judge([primary("pg1", 200, 9_800)]), []);
  });

  test("is broken by a yes of the member that the key no longer names", () => {
    const [broken, ...others] = replaced().judge([primary("pg1", 200, 2_100), primary("pg2", 200, 2_100)]);
    assert.equal(broken?.node, "pg1");
    assert.deepEqual(others, []);
  });

  test("does not hold for a key that names nobody while the member reports a pause, but for one that names another", () => {
    const paused: Denials = { ...never, mayHaveFlagged: (node, flag) => node === "pg1" && flag === "pause" };
    assert.equal(replaced(paused).judge([primary("pg1", 200, 2_100)]).length, 1);
    for (const [evidence, broken] of [
      [paused, 0],
      [never, 1],
    ] as const) {
      const promise = promiseOf(evidence);
      promise.read("pg1", 20_000, 20_000);
      promise.read(null, 21_000, 21_000);
      assert.equal(promise.judge([primary("pg1", 200, 21_100)]).length, broken);
    }
  });

  test("is not renewed by a read that repeats the one before", () => {
    let isDenied = true;
    const evidence: Denials = { ...never, mayHaveDenied: () => isDenied };
    const promise = promiseOf(evidence);
    promise.read("pg1", 20_000, 20_000);
    promise.read(null, 21_000, 21_000);
    assert.deepEqual(promise.judge([primary("pg1", 200, 22_000)]), []);
    isDenied = false;
    promise.read(null, 24_000, 24_000);
    assert.deepEqual(promise.judge([primary("pg1", 200, 24_100)]), []);
    promise.read("pg1", 25_000, 25_000);
    promise.read(null, 26_000, 26_000);
    assert.equal(promise.judge([primary("pg1", 200, 26_100)]).length, 1);
  });

  test("ends when the key names the member again", () => {
    const promise = replaced();
    promise.read("pg1", 3_000, 3_000);
    assert.deepEqual(promise.judge([primary("pg1", 200, 3_100)]), []);
  });

  // rolecall compares the report with the read by when each was sent.
  test("ends when the member reports that it holds no lock: a later claim is a new one", () => {
    const asked: [string, number][] = [];
    const denied = { ...never, mayHaveDenied: (node: string, sinceMs: number) => asked.push([node, sinceMs]) > 0 };
    const promise = replaced(denied);
    assert.deepEqual(promise.judge([primary("pg1", 200, 9_000)]), []);
    assert.deepEqual(asked, [["pg1", 1_990]]);
    assert.deepEqual(promise.judge([primary("pg1", 200, 9_500)]), []);
  });
});
