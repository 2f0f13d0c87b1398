/** How long a short command takes as a process: `node build/bench/cold-start.js`. Node's own start is measured beside it. */
import { spawnSync } from "node:child_process";
import { resolve } from "node:path";

const rounds = 15;
/** What `rolecall version` may take, in ms. */
const budgetMs = 150;

const program = resolve("dist", "main.js");
const [bare, version] = [medianMs(["-e", "0"]), medianMs([program, "version"])];
process.stdout.write(
  `node alone ${bare.toFixed(0)} ms, rolecall version ${version.toFixed(0)} ms (budget ${budgetMs} ms, median of ${rounds})\n`,
);
if (version > budgetMs) process.exitCode = 1;

/** The median time of running node with these arguments, to its end. */
function medianMs(args: readonly string[]): number {
  const times = Array.from({ length: rounds }, () => {
    const beganMs = performance.now();
    const { status } = spawnSync(process.execPath, args, { stdio: "ignore" });
    if (status !== 0) throw new Error(`Cannot measure node ${args.join(" ")} as it must end with 0: it ended with ${String(status)}`);
    return performance.now() - beganMs;
  });
  return times.toSorted((one, other) => one - other)[Math.floor(rounds / 2)] ?? 0;
}
