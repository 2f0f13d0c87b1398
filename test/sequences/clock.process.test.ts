import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { writeConfigFile } from "../fake/config-file.ts";
import type { Sequence } from "./format.ts";
import { SequenceRunner } from "./sequence-runner.ts";

/**
 * A healthy cluster whose nodes answer with a short delay. Evidence wrongly considered too old is missing for as long.
 */
const healthy: Omit<Sequence, "name" | "title" | "truth"> = {
  nodes: ["pg1", "pg2", "pg3"],
  neighbour: false,
  leader: "pg1",
  start: { pg1: { delay: 0.4 }, pg2: { delay: 0.4 }, pg3: { delay: 0.4 } },
  steps: [],
  lasts: 9,
  every: 50,
  expect: [
    { node: "pg1", check: "/primary", from: 1, is: "fit" },
    { node: "pg2", check: "/replica", from: 1, is: "fit" },
    { node: "pg3", check: "/replica", from: 1, is: "fit" },
  ],
};

/** The same cluster several times: their probes are sent at different instants. */
function clusters(title: string, truth: string): readonly Sequence[] {
  return [1, 2, 3, 4, 5, 6].map((at) => ({ ...healthy, title, truth, name: `healthy-${at}` }));
}

/** Runs rolecall with a wall clock that SIGUSR2 sets forward by an hour. */
function withAdjustableClock(context: TestContext): readonly string[] {
  const module = join(writeConfigFile(context, ""), "..", "clock.mjs");
  writeFileSync(
    module,
    `const { now } = Date;
let ahead = 0;
process.on("SIGUSR2", () => void (ahead += 3_600_000));
globalThis.Date = class extends Date {
  constructor(...parts) {
    super(...(parts.length === 0 ? [now() + ahead] : parts));
  }
  static now() {
    return now() + ahead;
  }
};
`,
  );
  return [process.execPath, "--import", module];
}

async function assertRight(
  stage: SequenceRunner,
  all: readonly Parameters<SequenceRunner["play"]>[0][],
): Promise<void> {
  const faults = (await Promise.all(all.map((played) => stage.play(played)))).flat();
  assert.ok(faults.length === 0, faults.join("\n  "));
}

test("setting the wall clock forward makes no evidence older", { timeout: 60_000 }, async (context) => {
  const sequences = clusters(
    "the wall clock is set forward",
    "All is well; the wall clock is set forward by an hour at 4 s.",
  );
  const [stage, all] = await SequenceRunner.open(context, sequences, {
    workers: 0,
    command: withAdjustableClock(context),
  });
  const played = assertRight(stage, all);
  await stage.until(4);
  stage.running.process.kill("SIGUSR2");
  await played;
});

test(
  "a stall of rolecall itself of 2.6 s is counted once in the age of its evidence",
  { timeout: 60_000 },
  async (context) => {
    const sequences = clusters(
      "rolecall stalls",
      "All is well; rolecall itself is stopped from 4 to 6.6 s, less than its evidence may be old.",
    );
    const [stage, all] = await SequenceRunner.open(context, sequences, { workers: 0 });
    const played = assertRight(stage, all);
    await stage.until(4);
    stage.running.process.kill("SIGSTOP");
    await stage.until(6.6);
    stage.running.process.kill("SIGCONT");
    await played;
  },
);
