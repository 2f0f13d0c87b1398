import assert from "node:assert/strict";
import { test } from "node:test";
import type { StatusOutcome } from "../../../../src/core/cluster/outcome.ts";
import { SecondOpinions } from "../../../../src/features/follow/follower/second-opinions.ts";
import { statusOutcome } from "../../../core/health/arbitraries.ts";

/** Opinions of nodes that answer when the test says so. */
function opinionsOf(): {
  readonly opinions: SecondOpinions;
  /** The nodes that are being asked, in order. */
  readonly asked: string[];
  readonly answer: (node: string) => Promise<void>;
} {
  const asked: string[] = [];
  const answers = new Map<string, (outcome: StatusOutcome | null) => void>();
  const opinions = new SecondOpinions({
    ask: (_, node) => {
      asked.push(node);
      return new Promise((resolve) => answers.set(node, resolve));
    },
    setTimer: (run, ms) => {
      // Nothing takes too long here.
      if (ms < 1_000) run();
      return () => {};
    },
    random: () => 0,
  });
  const answer = async (node: string): Promise<void> => {
    answers.get(node)?.(statusOutcome("pg1", 0));
    await new Promise(setImmediate);
  };
  return { opinions, asked, answer };
}

test("a node on which a yes depends is asked, however many others do not answer", async () => {
  const { opinions, asked, answer } = opinionsOf();
  const told: string[] = [];
  const ask = (node: string, isUrgent: boolean): boolean =>
    opinions.ask(
      { cluster: "demo", node, limitMs: 2_500, isUrgent },
      (outcome) => void told.push(outcome?.node ?? "-"),
    );
  const dead = Array.from({ length: 200 }, (_, at) => ask(`dead${at}`, false)).filter(Boolean).length;
  assert.equal(dead, 32);
  for (let at = 0; at < 96; at += 1) assert.ok(ask(`live${at}`, true));
  assert.equal(asked.length, 128);
  for (let at = 96; at < 150; at += 1) assert.ok(ask(`live${at}`, true));
  assert.equal(asked.length, 128, "the rest waits");
  for (let at = 0; at < 150; at += 1) await answer(`live${at}`);
  assert.equal(told.length, 150);
  assert.ok(ask("dead1", true), "the answer that is awaited is for all who ask");
  assert.equal(asked.filter((node) => node === "dead1").length, 1);
});
