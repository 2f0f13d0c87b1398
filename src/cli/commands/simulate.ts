import { startSimulator, type Simulator, type SimulatorOptions } from "../../simulator/simulator.ts";
import type { Arguments } from "../framework/arguments.ts";
import { CommandError } from "../framework/command.ts";
import type { CommandContext } from "../framework/command-context.ts";

/** `rolecall simulate`: serves a simulated cluster until SIGINT or SIGTERM; then its work is complete. */
export async function simulate({ args, result, print, signal }: CommandContext): Promise<void> {
  const ended = signalled();
  if (signal.aborted) throw new CommandError("RC004", `ended by ${String(signal.reason)}`);
  const options = readOptions(args);
  let simulator: Simulator;
  try {
    simulator = await startSimulator(options);
  } catch (error) {
    const message = messageOf(error);
    if (error instanceof RangeError) throw new CommandError("RC001", message);
    const hint = /EADDRINUSE|EACCES|EADDRNOTAVAIL/.test(message)
      ? " (choose another with --port or --host; 0 takes any free ports)"
      : "";
    result.cover("service", "incomplete", { detail: `${message}${hint}` });
    return;
  }
  print(greeting(options, simulator));
  const word = await ended;
  await simulator.stop();
  result.data = { nodes: simulator.nodes };
  result.cover("service", "complete", { detail: `ended by ${word}` });
}

/** @throws Stop that names the option, its value and what is allowed */
function readOptions(args: Arguments): SimulatorOptions {
  return {
    nodes: numberIn(args, "nodes", 3),
    port: numberIn(args, "port", 18_008),
    host: args.text("host") ?? "127.0.0.1",
    scope: args.text("scope") ?? "demo",
    vocabulary: wordIn(args, "vocabulary", ["patroni", "neutral"] as const),
    keepAlive: args.has("keep-alive"),
    ttlMs: numberIn(args, "ttl", 30) * 1000,
    loopWaitMs: numberIn(args, "loop-wait", 10) * 1000,
    walBytesPerSecond: numberIn(args, "wal-rate", 262_144),
    switchoverMs: numberIn(args, "switchover", 2_000),
    synchronousMode: wordIn(args, "synchronous", ["off", "on", "quorum"] as const),
    standbyCluster: args.has("standby-cluster"),
  };
}

function numberIn(args: Arguments, name: string, otherwise: number): number {
  const text = args.text(name) ?? String(otherwise);
  const value = text.trim() === "" ? Number.NaN : Number(text);
  if (!Number.isFinite(value)) throw new CommandError("RC001", `--${name} must be a number: it is "${text}"`);
  return value;
}

/** One of the words that the option's table allows; the first of them where nothing was said. */
function wordIn<Word extends string>(args: Arguments, name: string, words: readonly [Word, ...Word[]]): Word {
  return words.find((known) => known === args.text(name)) ?? words[0];
}

function greeting(options: SimulatorOptions, { nodes }: Simulator): string {
  const lines = nodes.map(({ name, url }) => `  ${name}  ${url}\n`).join("");
  const first = nodes[0]?.url ?? "";
  const last = nodes.at(-1)?.url ?? first;
  return (
    `Simulating cluster "${options.scope ?? "demo"}" (ctrl-C stops it):\n${lines}Try:\n` +
    `  curl -i ${first}/leader\n` +
    `  curl -X POST ${first}/switchover -d '{"leader": "pg1"}'\n` +
    `  curl -X POST '${last}/sim/pg1/kill'   # and .../sim/pg1/revive; also freeze, hang, lag?bytes=9MB, detach, slow?ms=500, garbage\n`
  );
}

function signalled(): Promise<string> {
  return new Promise((resolve) => {
    const stop = (signal: string): void => {
      process.off("SIGINT", stop);
      process.off("SIGTERM", stop);
      resolve(signal);
    };
    process.once("SIGINT", stop);
    process.once("SIGTERM", stop);
  });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
