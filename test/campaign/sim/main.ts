/** The deterministic simulation: how to run it, and what it promises: README.md of the campaign. */
import { parseArgs } from "node:util";
import { describePlan, planOf } from "./plan.ts";
import { Simulation } from "./simulation.ts";
import { Trace } from "./trace.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    seeds: { type: "string" },
    seconds: { type: "string", default: "60" },
    trace: { type: "boolean", default: false },
  },
});
const [from = 1, to = from] = (values.seeds ?? values.seed).split("..").map(Number);
const armed = new Map<string, number>();
const injected = new Map<string, number>();
const cpu = process.cpuUsage();
let simulated = 0;
let answers = 0;
for (let seed = from; seed <= to; seed += 1) {
  const plan = planOf({ seed, part: 0, seconds: Number(values.seconds), kept: null });
  const trace = values.trace ? new Trace((line) => void process.stdout.write(line)) : null;
  const result = await new Simulation(plan, { armed, injected, trace }).run();
  simulated += result.simulatedMs;
  answers += result.answers;
  if (result.violations.length > 0) {
    const lines = [...result.violations.map(({ rule, node, detail, atMs }) => `VIOLATION ${rule} ${node} at ${atMs}: ${detail}`)];
    process.stdout.write([`seed ${seed}`, ...describePlan(plan), ...lines, ...(from === to ? result.story : []), ""].join("\n"));
  }
  if (trace !== null) console.log(trace.lines, trace.digest());
}
const { user, system } = process.cpuUsage(cpu);
console.log(`${simulated / 1000} s simulated, cpu ${(user + system) / 1e6} s: ${Math.round((simulated * 1000) / (user + system))} x`);
console.log(answers, Object.fromEntries(armed), Object.fromEntries(injected));
