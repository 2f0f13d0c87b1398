import { parseArgs } from "node:util";
import { startSimulator, type Simulator, type SimulatorOptions } from "../simulator/simulator.ts";

const usage = `usage: rolecall simulate [flags]
  --nodes N               how many nodes (3)
  --port PORT             the first node's port, the others follow (18008); 0: any free ports
  --host ADDRESS          where to listen (127.0.0.1)
  --scope NAME            the cluster's name (demo)
  --vocabulary WORDS      names in documents and metrics: patroni or neutral (patroni)
  --keep-alive            HTTP/1.1 with connections kept, instead of HTTP/1.0 and closing as real nodes do
  --ttl SECONDS           life of the leader lock (30)
  --loop-wait SECONDS     pause of the HA loop (10)
  --wal-rate BYTES        WAL written a second (262144)
  --switchover MS         about how long a switchover takes (2000)
  --synchronous MODE      off, on or quorum (off)
  --standby-cluster       simulate the standby cluster of another one
`;

/**
 * `rolecall simulate`: serves a simulated cluster until SIGINT or SIGTERM.
 * Resolves with the exit code: 0 after a signal (or --help), 2 for bad flags or a port that cannot be had, said on stderr.
 */
export async function simulate(args: readonly string[]): Promise<number> {
  let options: SimulatorOptions | undefined;
  try {
    options = readFlags(args);
  } catch (error) {
    process.stderr.write(`rolecall simulate: ${messageOf(error)}\n${usage}`);
    return 2;
  }
  if (options === undefined) {
    process.stdout.write(usage);
    return 0;
  }
  let simulator: Simulator;
  try {
    simulator = await startSimulator(options);
  } catch (error) {
    const hint = /EADDRINUSE|EACCES|EADDRNOTAVAIL/.test(messageOf(error))
      ? " (choose another with --port or --host; 0 takes any free ports)"
      : "";
    process.stderr.write(`rolecall simulate: ${messageOf(error)}${hint}\n`);
    return 2;
  }
  process.stdout.write(greeting(options, simulator));
  await signalled();
  await simulator.stop();
  return 0;
}

/** Reads the flags; `undefined` when only help is wanted. Throws an Error that names the flag, its value and what is allowed. */
function readFlags(args: readonly string[]): SimulatorOptions | undefined {
  const { values } = parseArgs({
    args: [...args],
    options: {
      nodes: { type: "string", default: "3" },
      port: { type: "string", default: "18008" },
      host: { type: "string", default: "127.0.0.1" },
      scope: { type: "string", default: "demo" },
      vocabulary: { type: "string", default: "patroni" },
      "keep-alive": { type: "boolean", default: false },
      ttl: { type: "string", default: "30" },
      "loop-wait": { type: "string", default: "10" },
      "wal-rate": { type: "string", default: "262144" },
      switchover: { type: "string", default: "2000" },
      synchronous: { type: "string", default: "off" },
      "standby-cluster": { type: "boolean", default: false },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  if (values.help) return undefined;
  return {
    nodes: numberIn("--nodes", values.nodes),
    port: numberIn("--port", values.port),
    host: values.host,
    scope: values.scope,
    vocabulary: wordIn("--vocabulary", values.vocabulary, ["patroni", "neutral"] as const),
    keepAlive: values["keep-alive"],
    ttlMs: numberIn("--ttl", values.ttl) * 1000,
    loopWaitMs: numberIn("--loop-wait", values["loop-wait"]) * 1000,
    walBytesPerSecond: numberIn("--wal-rate", values["wal-rate"]),
    switchoverMs: numberIn("--switchover", values.switchover),
    synchronousMode: wordIn("--synchronous", values.synchronous, ["off", "on", "quorum"] as const),
    standbyCluster: values["standby-cluster"],
  };
}

function numberIn(flag: string, text: string): number {
  const value = text.trim() === "" ? Number.NaN : Number(text);
  if (!Number.isFinite(value)) throw new Error(`${flag} must be a number: it is "${text}"`);
  return value;
}

function wordIn<Word extends string>(flag: string, text: string, words: readonly Word[]): Word {
  const word = words.find((known) => known === text);
  if (word === undefined) throw new Error(`${flag} must be one of ${words.join(", ")}: it is "${text}"`);
  return word;
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

function signalled(): Promise<void> {
  return new Promise((resolve) => {
    const stop = (): void => {
      process.off("SIGINT", stop);
      process.off("SIGTERM", stop);
      resolve();
    };
    process.once("SIGINT", stop);
    process.once("SIGTERM", stop);
  });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
