import type { SimulatorOptions } from "../simulator/simulator.ts";
import { renderDemoBanner, type TourStep } from "./demo-banner.ts";
import { startControlledSimulator, type ControlledSimulator } from "./controlled-simulator.ts";
import type { Arguments } from "../../core/command/framework/arguments.ts";
import { CommandError } from "../../core/command/framework/command-error.ts";
import { collectSignals } from "../../core/command/framework/signals.ts";
import type { CommandContext } from "../../core/command/framework/command-context.ts";
import { parseByteSize } from "../../core/cluster/values/byte-size.ts";
import { parseDuration } from "../../core/cluster/values/duration.ts";
import { errorMessage } from "../../core/cluster/values/error-message.ts";

/** `rolecall demo cluster`: serves a simulated cluster until SIGINT or SIGTERM; either counts as success. */
export async function simulate({ args, result, print, signal }: CommandContext): Promise<void> {
  const processSignals = collectSignals();
  if (signal.aborted) throw new CommandError("RC004", `ended by ${String(signal.reason)}`);
  const options = readOptions(args);
  let simulator: ControlledSimulator;
  try {
    simulator = await startControlledSimulator(options);
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
  result.data = { nodes: simulator.nodes, faults: simulator.control };
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
    ttlMs: timeOption(args, "ttl", { fallback: "30s", bareUnit: "s" }),
    loopWaitMs: timeOption(args, "loop-wait", { fallback: "10s", bareUnit: "s" }),
    walBytesPerSecond: sizeOption(args, "wal-rate", "256kB"),
    switchoverMs: timeOption(args, "switchover", { fallback: "2s", bareUnit: "ms" }),
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

/**
 * A time in ms.
 * @param bareUnit the unit of a plain number, which version 0.1 took
 */
function timeOption(
  args: Arguments,
  name: string,
  { fallback, bareUnit }: { readonly fallback: string; readonly bareUnit: string },
): number {
  const text = args.text(name) ?? fallback;
  const ms = parseDuration(/^[\d.]+$/.test(text) ? `${text}${bareUnit}` : text);
  if (ms === undefined)
    throw new CommandError("RC001", `--${name} must be a duration such as 500ms or 30s, got ${JSON.stringify(text)}`);
  return ms;
}

function sizeOption(args: Arguments, name: string, fallback: string): number {
  const text = args.text(name) ?? fallback;
  const bytes = parseByteSize(text);
  if (bytes === undefined)
    throw new CommandError("RC001", `--${name} must be a size such as 256kB or 1MB, got ${JSON.stringify(text)}`);
  return bytes;
}

/** The value of an option with choices; the first choice if the option was not given. */
function choiceOption<Choice extends string>(
  args: Arguments,
  name: string,
  choices: readonly [Choice, ...Choice[]],
): Choice {
  return choices.find((choice) => choice === args.text(name)) ?? choices[0];
}

function banner(options: SimulatorOptions, { nodes, control }: ControlledSimulator): string {
  const scope = options.scope ?? "demo";
  const title = `Simulating cluster "${scope}" of ${String(nodes.length)} node${nodes.length === 1 ? "" : "s"}.`;
  const addresses = { health: null, admin: null, control, nodes };
  return renderDemoBanner(addresses, stepsOf(addresses), { title, setup: null, log: null });
}

/** The things to try with a simulated cluster alone. With a single node there is no replica and no switchover. */
function stepsOf({ nodes, control }: Pick<ControlledSimulator, "nodes" | "control">): readonly TourStep[] {
  const [first, ...others] = nodes;
  const replica = others.at(-1);
  return [
    { text: ["The health check of a load balancer:"], commands: [`curl -I ${first?.url ?? ""}/primary`] },
    ...(replica === undefined
      ? []
      : [
          {
            text: [`${replica.name} stops receiving WAL, or its replay falls behind:`],
            commands: [
              `curl -X POST ${control}/sim/${replica.name}/detach`,
              `curl -X POST '${control}/sim/${replica.name}/lag?bytes=9MB'`,
            ],
          },
          {
            text: ["A planned switchover:"],
            commands: [`curl -X POST ${replica.url}/switchover -d '{"leader": "pg1"}'`],
          },
        ]),
    { text: ["Kill the primary, or freeze it:"], commands: faultsOf(control, ["leader/kill", "leader/freeze"]) },
    { text: ["Undo all faults:"], commands: faultsOf(control, ["heal"]) },
    { text: ["List every fault, with a command for each:"], commands: [`curl ${control}`] },
  ];
}

function faultsOf(control: string, paths: readonly string[]): readonly string[] {
  return paths.map((path) => `curl -X POST ${control}/sim/${path}`);
}
