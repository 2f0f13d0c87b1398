/** The judge of the real runs is judged first: it has to see a yes that lives too long. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { changes, overhangMs, together, type Sample, type Timeline } from "./watch/timeline.ts";

/** One sample a second from second 0 on: Y yes, N no, S silence; each answer takes 10 ms. */
function samples(row: string): readonly Sample[] {
  return Array.from(row, (letter, second) => ({
    sentAtMs: second * 1000,
    repliedAtMs: second * 1000 + 10,
    status: letter === "Y" ? 200 : letter === "N" ? 503 : 0,
  }));
}

function timeline(theirs: string, ours: string, node = "pg1"): Timeline {
  return { node, route: "/primary", theirs: samples(theirs), ours: samples(ours) };
}

test("measures how long our yes outlives the node's, from its first no to our last yes", () => {
  assert.equal(overhangMs(timeline("YYNNNNN", "YYYYYNN")), 1990);
});

test("counts silence as a no from the start of the request", () => {
  assert.equal(overhangMs(timeline("YYSSSSS", "YYYYYNN")), 2000);
});

test("ignores a yes after the last proven no of the node", () => {
  assert.equal(overhangMs(timeline("YYNNY", "YYNNY")), 0);
  assert.equal(overhangMs(timeline("YYNY", "YYYY")), 0);
});

test("counts in full a yes that returns while the node still answers no", () => {
  assert.equal(overhangMs(timeline("YNNNNNNN", "YNNNNNYN")), 4990);
});

test("counts a yes to a state of a moment from its own begin, if our next probe ends it", () => {
  const health = (ours: string): Timeline => ({ ...timeline("YNNNNNNNNN", ours), route: "/health" });
  assert.equal(overhangMs(health("YNNNNNYNNN")), 0);
  assert.equal(overhangMs(health("YNNNNNYYNN")), 1000);
  assert.equal(overhangMs(health("YNNNNNYYYN")), 6990, "it outlasts the next probe");
  assert.equal(overhangMs(health("YYYYYYYNNN")), 4990, "it does not return");
});

test("takes a no to last only while the node is watched", () => {
  const { ours, ...rest } = timeline("YNNNNNNN", "YNNNNNYN");
  const without = (...seconds: readonly number[]): Timeline => ({
    ...rest,
    ours,
    theirs: rest.theirs.filter((_, second) => !seconds.includes(second)),
  });
  assert.equal(overhangMs(without(2, 3)), 1990, "from the first no after the gap");
  assert.equal(overhangMs(without(1, 3, 5)), 0);
});

test("matches a change with our first equal answer", () => {
  assert.deepEqual(
    changes(timeline("YYNNNYY", "YYYYNNY")).map(({ from, to, delayMs }) => [from, to, delayMs]),
    [
      [200, 503, 2000],
      [503, 200, 1000],
    ],
  );
});

test("has no delay for an answer that we gave before the node", () => {
  assert.deepEqual(
    changes(timeline("YYYN", "YNNN")).map(({ delayMs }) => delayMs),
    [0],
  );
});

test("has no delay for a change that ends before we follow", () => {
  assert.deepEqual(
    changes(timeline("YYNYY", "YYYYY")).map(({ to, delayMs }) => [to, delayMs]),
    [
      [503, null],
      [200, 0],
    ],
  );
});

test("finds two primaries at the same instant, but not one after the other", () => {
  const shifted = (one: Timeline): Timeline => ({
    ...one,
    ours: one.ours.map((s) => ({ ...s, sentAtMs: s.sentAtMs + 500, repliedAtMs: s.repliedAtMs + 500 })),
  });
  assert.deepEqual(together([timeline("YYN", "YYN"), shifted(timeline("NYY", "NYY", "pg2"))]), []);
  assert.deepEqual(together([timeline("YYY", "YYY"), shifted(timeline("NYY", "NYY", "pg2"))]), [1500, 2000]);
});
