/** The campaign on start addresses from the command line. */
import { parseArgs } from "node:util";
import { Trace } from "../sim/trace.ts";
import { addressRun } from "./address-campaign.ts";
import { describeAddressPlan } from "./address-plan.ts";

const { values } = parseArgs({
  options: {
    addresses: { type: "boolean" },
    seed: { type: "string" },
    seeds: { type: "string", default: "1..1000" },
    for: { type: "string", default: "Infinity" },
    "stop-at": { type: "string", default: "20" },
    trace: { type: "boolean", default: false },
  },
});
const write = (text: string): void => void process.stdout.write(text);
const [first = 1, last = first] = (values.seed ?? values.seeds).split("..").map(Number);
const endMs = performance.now() + Number(values.for) * 1_000;
const armed = new Map<string, number>();
let [runs, violating, answers] = [0, 0, 0];
for (let seed = first; seed <= last && performance.now() < endMs; seed += 1) {
  const result = await addressRun(seed, { armed, trace: values.trace ? new Trace(write) : null });
  runs += 1;
  answers += result.answers;
  if (result.violations.length === 0) continue;
  violating += 1;
  for (const { rule, node, detail } of result.violations)
    write(`VIOLATION ${rule} ${node ?? ""} at ${(result.atMs / 1_000).toFixed(2)} s: ${detail}\n`);
  write(`${describeAddressPlan(result.plan).join("\n")}\n`);
  write(` repeat: npm run campaign -- --addresses --seed ${seed} --trace\n\n`);
  if (violating >= Number(values["stop-at"])) break;
}
const counts = [...armed].map(([rule, count]) => `${rule} ${count}`).toSorted();
write(`${runs} runs, ${answers} answers judged\npromises that had to hold: ${counts.join(", ")}\n`);
write(violating === 0 ? "no promise was broken\n" : `runs that broke a promise: ${violating}\n`);
process.exitCode = violating === 0 ? 0 : 1;
