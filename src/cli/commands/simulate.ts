import { startSimulator, type Simulator, type SimulatorOptions } from "../../simulator/simulator.ts";
import type { Arguments } from "../framework/arguments.ts";
import { CommandError } from "../framework/command-error.ts";
import { collectSignals } from "../framework/signals.ts";
import type { CommandContext } from "../framework/command-context.ts";
import { errorMessage } from "../result/error-message.ts";

/** `rolecall simulate`: serves a simulated cluster until SIGINT or SIGTERM; either counts as success. */
export async function simulate({ args, result, print, signal }: CommandContext): Promise<void> {
  const processSignals = collectSignals();
  if (signal.aborted) throw new CommandError("RC004", `ended by ${String(signal.reason)}`);
  const options = readOptions(args);
  let simulator: Simulator;
  try {
    simulator = await startSimulator(options);
  } catch (error) {
    const message = errorMessage(error);
    if (error instanceof RangeError) throw new CommandError("RC001", message);
    const hint = /EADDRINUSE|EACCES|EADDRNOTAVAIL/.test(message)
      ? " (choose another with --port or --host; --port 0 takes free ports)"
      : "";
    result.cover("service", "incomplete", { detail: `${message}${hint}` });
    return;
  }
  print(banner(options, simulator));
  const endedBy = await processSignals.nextTermination();
  await simulator.stop();
  result.data = { nodes: simulator.nodes };
  result.cover("service", "complete", { detail: `ended by ${endedBy}` });
}

/** @throws CommandError (RC001) that names the option, its value and the allowed values */
function readOptions(args: Arguments): SimulatorOptions {
  return {
    nodes: numberOption(args, "nodes", 3),
    port: numberOption(args, "port", 18_008),
    host: args.text("host") ?? "127.0.0.1",
    scope: args.text("scope") ?? "demo",
    vocabulary: choiceOption(args, "vocabulary", ["patroni", "neutral"] as const),
    keepAlive: args.has("keep-alive"),
    ttlMs: numberOption(args, "ttl", 30) * 1000,
    loopWaitMs: numberOption(args, "loop-wait", 10) * 1000,
    walBytesPerSecond: numberOption(args, "wal-rate", 262_144),
    switchoverMs: numberOption(args, "switchover", 2_000),
    synchronousMode: choiceOption(args, "synchronous", ["off", "on", "quorum"] as const),
    standbyCluster: args.has("standby-cluster"),
  };
}

function numberOption(args: Arguments, name: string, fallback: number): number {
  const text = args.text(name) ?? String(fallback);
  const value = text.trim() === "" ? Number.NaN : Number(text);
  if (!Number.isFinite(value))
    throw new CommandError("RC001", `--${name} must be a number, got ${JSON.stringify(text)}`);
  return value;
}

/** The value of an option with choices; the first choice if the option was not given. */
function choiceOption<Choice extends string>(
  args: Arguments,
  name: string,
  choices: readonly [Choice, ...Choice[]],
): Choice {
  return choices.find((choice) => choice === args.text(name)) ?? choices[0];
}

function banner(options: SimulatorOptions, { nodes }: Simulator): string {
  const lines = nodes.map(({ name, url }) => `  ${name}  ${url}\n`).join("");
  const first = nodes[0]?.url ?? "";
  const last = nodes.at(-1)?.url ?? first;
  return (
    `Simulating cluster "${options.scope ?? "demo"}" (press Ctrl-C to stop):\n${lines}Try:\n` +
    `  curl -i ${first}/leader\n` +
    `  curl -X POST ${first}/switchover -d '{"leader": "pg1"}'\n` +
    `  curl -X POST '${last}/sim/pg1/kill'   # undo with .../sim/pg1/revive; ` +
    "other faults: freeze, hang, lag?bytes=9MB, detach, slow?ms=500, garbage\n"
  );
}
