import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { fileOf, freePort, Running } from "../fake/running.ts";
import { readSequences, type Sequence } from "./format.ts";
import { faultsOf, looksOf } from "./judge.ts";
import { WorldServer } from "./server.ts";
import { Watcher } from "./watcher.ts";
import { World } from "./world.ts";

/** All sequences run at the same time, each as a cluster of its own, in both orders of its list. */
const only = new RegExp(process.env["SEQUENCES"] ?? "");
const sequences = readSequences().filter(({ name }) => only.test(name));

interface Played {
  readonly sequence: Sequence;
  readonly world: World;
  readonly servers: ReadonlyMap<string, WorldServer>;
}

for (const workers of [0, 2]) {
  test(`the answers are right under every directed sequence with ${workers} workers`, { timeout: 170_000 }, async (context) => {
    // Until rolecall answers, time stands still in the worlds: nothing of theirs may ever run backwards.
    let startedMs = Infinity;
    const now = (): number => Math.max(0, (performance.now() - startedMs) / 1000);
    const all = sequences.flatMap((sequence, at) => [
      raise(sequence, `127.100.${at}`, now),
      raise({ ...sequence, name: `${sequence.name}-reversed`, nodes: sequence.nodes.toReversed() }, `127.101.${at}`, now),
    ]);
    const servers = all.flatMap((played) => [...played.servers.values()]);
    context.after(async () => {
      for (const server of servers) await server.close();
    });
    for (const server of servers) await server.open();
    for (const server of servers) await server.settle();
    const port = await serve(context, workers, all);
    startedMs = performance.now();
    const tests = all.map((played) => {
      const { name, title, truth } = played.sequence;
      const faults = play(played, port, now);
      return context.test(`${title} [${name}, ${workers} workers]`, async () => {
        assert.ok((await faults).length === 0, `${truth}\n  ${(await faults).join("\n  ")}`);
      });
    });
    await Promise.all(tests);
  });
}

/** A sequence's world and its servers, at addresses that differ in the last byte. */
function raise(sequence: Sequence, net: string, now: () => number): Played {
  const world = new World(sequence);
  const servers = world.servers.map(
    (name, index) => [name, new WorldServer(world, name, { address: `${net}.${index + 1}`, now })] as const,
  );
  return { sequence, world, servers: new Map(servers) };
}

/** Starts rolecall for all clusters with that number of workers, and gives its port once its first round of probes is done. */
async function serve(context: TestContext, workers: number, all: readonly Played[]): Promise<number> {
  const port = await freePort();
  const clusters = all.map(({ sequence, world }) => clusterOf(sequence, world));
  const config = {
    clusters,
    listen: [{ port, cluster: "*" }],
    host_suffixes: [".db.internal"],
    workers,
    log: { level: "warn" },
  };
  // JSON is YAML.
  const running = new Running(context, ["serve", "--config", fileOf(context, JSON.stringify(config))]);
  let ended: number | string | null = null;
  void running.exit.then((code) => (ended = code));
  for (;;) {
    if (ended !== null) throw new Error(`rolecall ended with ${String(ended)}: ${running.stderr}`);
    const status = await fetch(`http://127.0.0.1:${port}/readyz`).then(
      (response) => response.status,
      () => 0,
    );
    if (status === 200) return port;
    await sleep(20);
  }
}

function clusterOf(sequence: Sequence, { addresses }: World): unknown {
  const { name, nodes, discover, guards } = sequence;
  const of =
    discover === true
      ? { discover: nodes.map((node) => addresses.get(node)) }
      : { nodes: nodes.map((node) => nodeOf(sequence, node, addresses)) };
  return { name, ...of, ...(guards === undefined ? {} : { guards }) };
}

function nodeOf({ called, anonymous }: Sequence, node: string, addresses: ReadonlyMap<string, string>): unknown {
  const member = called !== undefined && anonymous !== true ? { member: node } : {};
  return { name: called?.[node] ?? node, api: addresses.get(node), ...member };
}

/** Lets a sequence happen and gives what went wrong. */
async function play({ sequence, world, servers }: Played, port: number, now: () => number): Promise<readonly string[]> {
  const watcher = new Watcher(port, looksOf(sequence), now);
  watcher.start(sequence.every ?? 200);
  for (const step of sequence.steps) {
    await sleep(Math.max(0, (step.at - now()) * 1000));
    world.apply(step);
    for (const server of servers.values()) await server.settle();
  }
  await sleep((sequence.lasts - now()) * 1000);
  watcher.stop();
  return faultsOf(sequence, watcher);
}
