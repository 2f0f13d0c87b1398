import { setPriority } from "node:os";
import type { TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "../fake/free-port.ts";
import { writeConfigFile } from "../fake/config-file.ts";
import { RolecallProcess } from "../fake/rolecall-process.ts";
import { until } from "../fake/until.ts";
import { clusterOf, configurationWith } from "./configuration.ts";
import type { Sequence } from "./format.ts";
import { faultsOf, looksOf } from "./judge.ts";
import { WorldServer } from "./server.ts";
import { Watcher } from "./watcher.ts";
import { World } from "./world.ts";

/** How rolecall is started. */
export interface StartOptions {
  readonly workers: number;
  /** The program that runs its entry point. Node itself if left out. */
  readonly command?: readonly string[];
}

/** The time that a new program that probes many nodes at once needs to settle, in ms. */
const warmUpMs = 2_500;

/** The fake servers of many sequences, and one rolecall process that watches all of them. */
export class SequenceRunner {
  readonly running: RolecallProcess;
  readonly #watchers: ReadonlyMap<RunningSequence, Watcher>;
  readonly #now: () => number;

  private constructor(running: RolecallProcess, watchers: ReadonlyMap<RunningSequence, Watcher>, now: () => number) {
    this.running = running;
    this.#watchers = watchers;
    this.#now = now;
  }

  /** Starts all servers and rolecall. The instant 0 is the end of its first round of probes. */
  static async open(
    context: TestContext,
    sequences: readonly Sequence[],
    launch: StartOptions,
  ): Promise<[SequenceRunner, readonly RunningSequence[]]> {
    // Until rolecall answers, the clock of the worlds does not advance: their values must never run backwards.
    let startedMs = Infinity;
    const now = (): number => Math.max(0, (performance.now() - startedMs) / 1000);
    const all = sequences.map((sequence, at) => raise(sequence, `127.${100 + (at >> 8)}.${at & 255}`, now));
    const servers = all.flatMap((played) => [...played.servers.values()]);
    context.after(async () => {
      for (const server of servers) await server.close();
    });
    for (const server of servers) await server.open();
    for (const server of servers) await server.settle();
    const { running, port } = await serve(context, launch, all);
    const watchers = new Map<RunningSequence, Watcher>();
    for (const played of all) watchers.set(played, await Watcher.open(port, looksOf(played.sequence), now));
    await sleep(warmUpMs);
    startedMs = performance.now();
    return [new SequenceRunner(running, watchers, now), all];
  }

  /** Runs a sequence and returns its violations. */
  async play(played: RunningSequence): Promise<readonly string[]> {
    const { sequence, world, servers } = played;
    const watcher = this.#watchers.get(played);
    if (watcher === undefined) throw new Error(`Cannot play ${sequence.name}: another stage must not have opened it`);
    watcher.start(sequence.every ?? 300);
    for (const step of sequence.steps) {
      await this.until(step.at);
      world.apply(step);
      for (const server of servers.values()) await server.settle();
    }
    await this.until(sequence.lasts);
    watcher.stop();
    const faults = faultsOf(sequence, watcher.record);
    // On an overloaded machine no judgement is possible: the truth itself is late.
    return faults.length === 0 ? [] : [...faults, `the slowest round of answers took ${watcher.slowest.toFixed(2)} s`];
  }

  /** @param at seconds since the start */
  async until(at: number): Promise<void> {
    await sleep(Math.max(0, (at - this.#now()) * 1000));
  }
}

/** A sequence with its servers. */
export interface RunningSequence {
  readonly sequence: Sequence;
  readonly world: World;
  readonly servers: ReadonlyMap<string, WorldServer>;
}

/** A sequence's world and its servers, at addresses that differ in the last byte. */
function raise(sequence: Sequence, net: string, now: () => number): RunningSequence {
  const world = new World(sequence);
  const servers = world.servers.map(
    (name, index) => [name, new WorldServer(world, name, { address: `${net}.${index + 1}`, now })] as const,
  );
  return { sequence, world, servers: new Map(servers) };
}

/** Starts rolecall for all clusters and waits until its first round of probes is done. */
async function serve(
  context: TestContext,
  { workers, command }: StartOptions,
  all: readonly RunningSequence[],
): Promise<{ readonly running: RolecallProcess; readonly port: number }> {
  const port = await freePort();
  const clusters = all.map(({ sequence, world }) => clusterOf(sequence, world));
  // Info: the log says when a worker answers.
  const config = { ...configurationWith(clusters, port), workers, ...(workers > 0 ? { log: { level: "info" } } : {}) };
  // JSON is YAML.
  const args = ["serve", "--config", writeConfigFile(context, JSON.stringify(config))];
  const running = new RolecallProcess(context, args, command === undefined ? {} : { command });
  for (const pid of [process.pid, running.process.pid]) favour(pid);
  let ended: number | string | null = null;
  void running.exit.then((code) => (ended = code));
  await until({ what: "/readyz answered 200", seconds: 120, evidence: () => running.stderr }, async () => {
    if (ended !== null) throw new Error(`rolecall ended with ${String(ended)}: ${running.stderr}`);
    const status = await fetch(`http://127.0.0.1:${port}/readyz`).then(
      (response) => response.status,
      () => 0,
    );
    return status === 200;
  });
  if (workers > 0) await running.waitForLog("worker started", workers);
  return { running, port };
}

/**
 * Servers that answer late because the machine is busy would change the truth. These processes therefore have a higher
 * priority if that is allowed.
 */
function favour(pid: number | undefined): void {
  try {
    if (pid !== undefined) setPriority(pid, -10);
  } catch {
    // Only root may do this. The bounds of the sequences tolerate a machine that is busy but not overloaded.
  }
}
