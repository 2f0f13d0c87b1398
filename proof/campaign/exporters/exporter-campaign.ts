import { lockHolderOf } from "../../../src/core/cluster/leadership.ts";
import { ClusterFixture } from "../../../test/fake/cluster-fixture.ts";
import type { ExporterResult } from "../../../src/core/cluster/outcome.ts";
import { ExporterWorld, type Server } from "./exporter-world.ts";

/** How long faults go on, and how long it is calm after them, in seconds. */
const [troubledS, calmS] = [90, 60];

/** The limit that the checks ask for, in bytes. */
const limit = 2 ** 20;

/** Counts how often healthy replicas had to be fit under each kind of names. */
export type AppliedNames = Map<string, number>;

/**
 * Runs random faults of exporters and databases without a cluster manager on virtual time, and compares each answer
 * with the truth.
 * @returns a line for each broken promise
 */
export function brokenPromises(seed: number, applied: AppliedNames = new Map()): readonly string[] {
  const world = new ExporterWorld(seed);
  const nodes = world.servers.map(({ name }) => ({
    name,
    api: null,
    exporter: `http://${name}:9630`,
    database: { host: name, port: 5432 },
  }));
  const watched = new ClusterFixture({ nodes, policy: { pageMaxAgeMs: 11_500 } });
  const broken: string[] = [];
  // A page counts for 11.5 s, a replica's and its primary's; pages are 3 s apart.
  const allowed = limit + world.rate * 26;
  const hasUp = world.family === "pg_exporter";
  // While the exporter of the real primary is silent, an old one that came back is the only primary to be seen, and
  // nothing tells the two apart. Its page counts for as long as any other.
  let misledUntilS = 0;
  for (let atS = 1; atS <= troubledS + calmS; atS += 1) {
    world.step(atS, atS > troubledS);
    for (const [at, server] of world.servers.entries()) probe(watched, world, { server, atS, hasUp, at });
    const fit: string[] = [];
    const accepted = lockHolderOf(watched.cluster.leadership);
    if (world.servers.some((one) => one.name === accepted && !one.isStandby && one.isAlive && one !== world.primary))
      misledUntilS = atS + 26;
    for (const server of world.servers) {
      if (watched.judge(server.name, "/primary", atS * 1000) === "fit") fit.push(server.name);
      const answer = watched.judge(server.name, `/replica?lag=${limit}B`, atS * 1000);
      const isYes = answer === "fit" || answer === "degraded";
      if (isYes && atS > misledUntilS && world.lagOf(server) > allowed)
        broken.push(`seed ${seed}, ${atS} s: ${server.name} is fit, ${world.lagOf(server)} bytes behind`);
      if (atS < troubledS + calmS || !server.isStandby) continue;
      const plain = watched.judge(server.name, "/replica", atS * 1000);
      applied.set(world.names, (applied.get(world.names) ?? 0) + 1);
      if (plain !== "fit" || (world.rate < limit / 4 && world.isLagKnown && !isYes))
        broken.push(`seed ${seed}: ${server.name} is healthy for ${calmS} s, and still ${plain}, ${answer}`);
    }
    if (fit.length > 1) broken.push(`seed ${seed}, ${atS} s: ${fit.join(" and ")} are primaries`);
  }
  return broken;
}

interface Probe {
  readonly server: Server;
  readonly atS: number;
  readonly hasUp: boolean;
  /** The server's place: pages are requested at different instants. */
  readonly at: number;
}

function probe(watched: ClusterFixture, world: ExporterWorld, { server, atS, hasUp, at }: Probe): void {
  const record = (result: ExporterResult): void => {
    const atMs = atS * 1000;
    const sent = { cluster: "demo", node: server.name, sentAtMs: atMs - 20, sentAtWallMs: atMs };
    watched.record({ kind: "exporter", ...sent, result }, atMs);
  };
  const failure = { kind: "timeout", detail: "" } as const;
  if (hasUp) {
    const answers = server.isAlive && server.fault !== "dead";
    record(answers ? { endpoint: "up", role: server.isStandby ? "replica" : "primary" } : { endpoint: "up", failure });
    if ((atS + at) % 3 !== 0) return;
  }
  const page = world.page(server, atS);
  record(page === null ? { endpoint: "metrics", failure } : { endpoint: "metrics", page });
}
