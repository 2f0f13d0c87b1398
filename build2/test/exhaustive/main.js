/** `npm run exhaustive -- --depth 8`: explores both starts and prints the states of each depth. */
import { parseArgs } from "node:util";
import { judge } from "../../src/health/judge/judge.js";
import { observe } from "../../src/health/observe/observe.js";
import { alphabets } from "./alphabet.js";
import { explore } from "./explore.js";
import { exploredPolicy } from "./policy.js";
const { values } = parseArgs({ options: { depth: { type: "string", default: "6" } } });
const depth = Number(values.depth);
if (!Number.isInteger(depth) || depth < 1)
    throw new Error(`Cannot explore: --depth must be a whole number from 1, got ${values.depth}`);
const starts = [
    { isSettled: false, name: "a cluster that was never probed" },
    { isSettled: true, name: "a cluster that node a leads" },
];
for (const [name, alphabet] of alphabets)
    for (const { isSettled, name: start } of starts) {
        console.log(`${name} (${alphabet.length} events), from ${start}:`);
        const { rounds, violation } = explore({ observe, judge, policy: exploredPolicy }, {
            alphabet,
            depth,
            isSettled,
            report: ({ depth: level, states, transitions }) => console.log(`  depth ${level}: ${states} new states, ${transitions} transitions`),
        });
        const needed = [...rounds].toSorted(([one], [other]) => one - other).map(([n, count]) => `${n}: ${count}`);
        console.log(`  rounds of sound answers until every verdict is right: ${needed.join(", ")}`);
        if (violation !== null) {
            console.log(`  VIOLATION: ${violation.problem}\n    ${violation.events.join("\n    ")}`);
            process.exitCode = 1;
        }
    }
//# sourceMappingURL=main.js.map