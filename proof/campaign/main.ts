/**
 * The fault campaigns: a simulation on virtual time; with `--addresses`, one of start addresses; with `--live`, faults
 * injected into the running program; with `--planted`, the simulation of copies with planted bugs. How to run them, and
 * what they promise: README.md.
 */
if (process.argv.includes("--addresses")) await import("./addresses/main.ts");
else if (process.argv.includes("--fleet")) await import("./fleet/main.ts");
else if (process.argv.includes("--live")) await import("./run/live.ts");
else if (process.argv.includes("--planted")) await import("./planted/main.ts");
else await import("./sim/main.ts");
