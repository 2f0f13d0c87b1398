import assert from "node:assert/strict";
import { test } from "node:test";
import { adviceFor, stepMs, type AdviceInputs } from "../../../../src/cli/rehearse/measure/advice.ts";
import { phaseNames, type OutagePhase } from "../../../../src/cli/rehearse/measure/phases.ts";

/** Phases at these times after the request, in the usual order. */
function phasesAt(times: readonly (number | null)[]): readonly OutagePhase[] {
  return phaseNames.map((phase, at) => ({
    phase,
    node: null,
    afterRequestMs: times[at] ?? null,
    resolutionMs: 10,
    source: "recovery",
  }));
}

/** demoted, withdrawn, promoted, first yes, switched, first write. */
const quick = [300, 350, 900, 950, 1_050, 1_060];

function inputsFor(times: readonly (number | null)[], more: Partial<AdviceInputs> = {}): AdviceInputs {
  return {
    phases: phasesAt(times),
    isKill: false,
    writeIntervalMs: 100,
    probeIntervalMs: 1_000,
    readOnlyWrites: 0,
    lateWrites: 0,
    hasNodeSamples: true,
    edges: null,
    ...more,
  };
}

const cases: readonly (readonly [title: string, inputs: AdviceInputs, advice: readonly RegExp[]])[] = [
  ["nothing is slow", inputsFor(quick), []],
  ["nothing was seen", inputsFor([]), []],
  [
    "the demotion is slow",
    inputsFor([2_500, 2_600, 3_000, 3_050, 3_100, 3_110]),
    [/took 2\.50 s to stop writing.*CHECKPOINT/],
  ],
  [
    "the promotion is slow",
    inputsFor([300, 350, 3_300, 3_350, 3_400, 3_410]),
    [/3\.00 s from the demotion.*loop_wait/],
  ],
  [
    "a killed leader's lock has to expire",
    inputsFor([10, 20, 9_000, 9_100, 9_200, 9_210], { isKill: true }),
    [/9\.00 s from the kill.*ttl/],
  ],
  [
    "the first yes is late",
    inputsFor([300, 350, 900, 1_700, 1_750, 1_760]),
    [/0\.80 s after the promotion.*every 1\.00 s.*hints.*a failover is not/],
  ],
  [
    "the first yes after a kill is late",
    inputsFor([300, 350, 900, 1_700, 1_750, 1_760], { isKill: true }),
    [/0\.80 s after the promotion(?!.*a failover is not)/],
  ],
  [
    "the balancer is slow",
    inputsFor([300, 350, 900, 950, 4_000, 4_010]),
    [/3\.05 s after rolecall accepted it.*inter 100ms.*if rolecall is not redundant/],
  ],
  [
    "the balancer is slow, and its checks go through one rolecall",
    inputsFor([300, 350, 900, 950, 4_000, 4_010], { edges: 1 }),
    [/3\.05 s after rolecall accepted it.*second instance of rolecall.*--edge twice(?!.*inter 100ms)/],
  ],
  [
    "the balancer is slow, and its checks go through two rolecalls",
    inputsFor([300, 350, 900, 950, 4_000, 4_010], { edges: 2 }),
    [/3\.05 s after rolecall accepted it.*inter 100ms.*2 instances of rolecall, so fall 1 is safe/],
  ],
  ["the first commit is slow", inputsFor([300, 350, 900, 950, 1_000, 2_000]), [/1\.00 s after the pool reached/]],
  ["writes reached a replica", inputsFor(quick, { readOnlyWrites: 1 }), [/1 write to a server in recovery/]],
  [
    "writes reached the old primary",
    inputsFor(quick, { lateWrites: 2 }),
    [/2 writes after another node was promoted.*rise 2 fall 1/],
  ],
  ["no database was sampled", inputsFor(quick, { hasNodeSamples: false }), [/--node-dsn/]],
];

for (const [title, inputs, advice] of cases)
  test(`advises if ${title}`, () => {
    const found = adviceFor(inputs).map(({ message, action }) => `${message} ${action}`);
    assert.equal(found.length, advice.length, found.join("\n"));
    for (const [at, pattern] of advice.entries()) assert.match(found[at] ?? "", pattern);
  });

test("a step needs both of its ends, and is never negative", () => {
  const phases = phasesAt([300, null, 900, 800]);
  assert.deepEqual(
    [
      stepMs(phases, "request", "demoted"),
      stepMs(phases, "withdrawn", "promoted"),
      stepMs(phases, "promoted", "first_yes"),
    ],
    [300, null, 0],
  );
});
