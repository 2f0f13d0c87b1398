/**
 * The fault campaigns: a simulation on virtual time or, with `--live`, faults injected into the running program. How to
 * run them, and what they promise: README.md beside this file.
 */
const isLive = process.argv.includes("--live");
if (isLive) await import("./run/live.ts");
else await import("./sim/main.ts");
