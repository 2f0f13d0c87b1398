/**
 * The fault campaigns: a simulation on virtual time; with `--fleet`, one of several instances; with `--addresses`, one of
 * start addresses; with `--live`, faults injected into the running program; with `--planted`, the simulation of copies
 * with planted bugs. How to run them, and what they promise: README.md.
 */
const { argv } = process;
const see = "proof/campaign/README.md describes all options.\n";

/** An option that is unknown, or whose value is not allowed: its message says all. */
function isWrongOption(error: unknown): error is Error {
  return error instanceof Error && /^(?:Cannot |Unknown option |Option )/u.test(error.message);
}

async function run(): Promise<void> {
  if (argv.includes("--addresses")) await import("./addresses/main.ts");
  else if (argv.includes("--fleet")) await import("./fleet/main.ts");
  else if (argv.includes("--live")) await import("./run/live.ts");
  else if (argv.includes("--planted")) await import("./planted/main.ts");
  else await import("./sim/main.ts");
}

if (argv.includes("--help")) process.stdout.write(see);
else
  try {
    await run();
  } catch (error) {
    if (!isWrongOption(error)) throw error;
    process.stderr.write(`${error.message}\n${see}`);
    process.exitCode = 2;
  }
