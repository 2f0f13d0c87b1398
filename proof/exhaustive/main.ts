/**
 * `npm run exhaustive -- --depth 8`: explores both starts and prints the states of each depth. With `--switchover-depth 8` and
 * no `--depth` only the switchovers, restarts and losses.
 */
import { parseArgs } from "node:util";
import { judge } from "../../src/core/health/rules/judge.ts";
import { observe } from "../../src/core/health/observe/observe.ts";
import { alphabets } from "./alphabet.ts";
import { explore } from "./explore.ts";
import { exploredPolicy } from "./policy.ts";
import { exploreRefused } from "./refused.ts";
import { explore as exploreSwitchover, startsOf } from "./switchover-explore.ts";
import { twoAnnouncedTargets, twoLostTargets, twoRestartedTargets, twoTargets } from "./switchover-world.ts";

const { values } = parseArgs({
  options: {
    depth: { type: "string" },
    "switchover-depth": { type: "string" },
  },
});
const areOnlySwitchovers = values.depth === undefined && values["switchover-depth"] !== undefined;
const depth = depthOf("depth", "6");
const switchoverDepth = areOnlySwitchovers
  ? depthOf("switchover-depth", "6")
  : Math.min(depth, depthOf("switchover-depth", "99"));

/** Three nodes have many more states. */
const refusedDepthMax = 5;

const starts = [
  { isSettled: false, name: "a cluster that was never probed" },
  { isSettled: true, name: "a cluster that pg1 leads" },
];

for (const [name, alphabet] of areOnlySwitchovers ? [] : alphabets)
  for (const { isSettled, name: start } of starts) {
    console.log(`${name} (${alphabet.length} events), from ${start}:`);
    const { rounds, violation } = explore(
      { observe, judge, policy: exploredPolicy },
      {
        alphabet,
        depth,
        isSettled,
        report: ({ depth: level, states, transitions }) =>
          console.log(`  depth ${level}: ${states} new states, ${transitions} transitions`),
      },
    );
    const needed = [...rounds].toSorted(([one], [other]) => one - other).map(([n, count]) => `${n}: ${count}`);
    console.log(`  rounds of sound answers until every verdict is right: ${needed.join(", ")}`);
    if (violation !== null) {
      console.log(`  VIOLATION: ${violation.problem}\n    ${violation.events.join("\n    ")}`);
      process.exitCode = 1;
    }
  }

const refusedDepth = Math.min(depth, refusedDepthMax);
for (const isWatched of areOnlySwitchovers ? [] : [false, true]) {
  const refused = exploreRefused({ observe, judge, policy: exploredPolicy }, refusedDepth, isWatched);
  const dcs = isWatched ? ", and a watched DCS" : "";
  console.log(`a claim beside another one, with a third node${dcs}, to depth ${refusedDepth}:`);
  console.log(`  new states of each depth: ${refused.states.join(", ")}; with a marked claim: ${refused.marked}`);
  if (refused.violation !== null) {
    console.log(`  VIOLATION: ${refused.violation.problem}\n    ${refused.violation.events.join("\n    ")}`);
    process.exitCode = 1;
  }
}

console.log(`seamless switchovers, restarts and losses, to depth ${switchoverDepth}:`);
for (const plan of [twoTargets, twoAnnouncedTargets, twoRestartedTargets, twoLostTargets])
  for (const { name, first, isAdopted = false } of startsOf(plan)) {
    const { states, transitions, violation } = exploreSwitchover(plan, { first, isAdopted, depth: switchoverDepth });
    console.log(`  ${plan.start}, from ${name}: ${states} states, ${transitions} transitions`);
    if (violation !== null) {
      console.log(`  VIOLATION: ${violation.problem}\n    ${violation.path.join("\n    ")}`);
      process.exitCode = 1;
    }
  }

function depthOf(option: "depth" | "switchover-depth", otherwise: string): number {
  const given = Number(values[option] ?? otherwise);
  if (!Number.isInteger(given) || given < 1)
    throw new Error(`Cannot explore: --${option} must be a whole number from 1, got ${values[option]}`);
  return given;
}
