import { hasSameAccusations, rememberedAccusations } from "./accusations-file.ts";
import { nodeNameOf, originOf } from "../cluster/documents/cluster-document.ts";
import { isObject, listOf, type JsonObject } from "../cluster/values/json.ts";
import { parseDatabaseAddress } from "../health/check.ts";
import type { Node } from "../cluster/node.ts";
import { neverProbed } from "../cluster/observation.ts";
import type { ClusterState, Snapshot } from "../cluster/snapshot.ts";
import type { ClusterConfig } from "../config/model/config.ts";
import { drainsToJson } from "./drains-file.ts";
import type { Logger } from "../events/logger.ts";
import { withNodes } from "../health/observe/membership.ts";
import type { Observation } from "../cluster/observation.ts";
import { readStateFile, replaceFile, sweepDrafts } from "./state-file.ts";
import { emptyPart } from "./clusters.ts";

/** So many members of a cluster are read and written; of those that never answered this run, so many. */
const membersMax = 2_000;
const unprovenMax = 500;

/** Where our clock begins: from then on a remembered member has a day to answer before it is forgotten (design.md, rule 10). */
const beginningMs = 0;

/**
 * Reads the members that an earlier run discovered, for the case that every seed is down now (config key `state_file`), and whose claim
 * stood last. They are names and addresses only: each must answer before anything is said of it.
 * @param onProblem told why the file, or a part of it, is not used
 * @returns a part for each cluster that the file knows; none where it is absent or cannot be read
 */
export function readMembers(
  file: string,
  clusters: readonly ClusterConfig[],
  onProblem: (problem: string) => void = () => {},
): ReadonlyMap<string, ClusterState> {
  const known = parseMembers(file, onProblem);
  const states = new Map<string, ClusterState>();
  for (const cluster of clusters) {
    const nodes =
      cluster.discover.length === 0 ? [] : rememberedNodes(known.members[cluster.name], cluster.name, onProblem);
    const incumbent = nodeNameOf(known.stood[cluster.name]);
    if (nodes.length === 0 && incumbent === null) continue;
    const state = withNodes(
      emptyPart(cluster),
      nodes.map((node) => ({ ...neverProbed(node), listedAtMs: beginningMs })),
    );
    states.set(cluster.name, { ...state, leadership: { ...state.leadership, incumbent } });
  }
  return states;
}

/**
 * Writes the discovered members of all clusters, whose claim stood last in each, who is accused (rule 5), and the drains; the file is replaced
 * whole. @throws what the file system says
 */
export async function writeMembers(file: string, snapshot: Snapshot): Promise<void> {
  const clusters = Object.fromEntries(
    snapshot.clusters.map((cluster) => [cluster.name, worthKeeping(cluster.nodes).map(({ node }) => remembered(node))]),
  );
  const stood = Object.fromEntries(
    snapshot.clusters.flatMap(({ name, leadership: { incumbent } }) => (incumbent === null ? [] : [[name, incumbent]])),
  );
  const content = {
    version: 1,
    clusters,
    stood,
    drains: drainsToJson(snapshot),
    accused: rememberedAccusations(snapshot),
  };
  await replaceFile(file, `${JSON.stringify(content, null, 2)}\n`);
}

/** The discovered members: those that answered, and of the others those that were listed last. */
function worthKeeping(nodes: readonly Observation[]): readonly Observation[] {
  const found = nodes.filter(({ node }) => !node.isFixed);
  const unproven = found
    .filter(({ report }) => report === null)
    .toSorted((one, other) => other.listedAtMs - one.listedAtMs);
  const left = new Set(unproven.slice(unprovenMax));
  return found.filter((node) => !left.has(node)).slice(0, membersMax);
}

/** The file as it is written while the process runs: one writing after the other, each with what is known when it begins. */
export class MembersFile {
  readonly #log: Logger;
  #written: Promise<void> = Promise.resolve();
  /** A writing that has not begun will write what is known then: a second one behind it would write the same. */
  #isWaiting = false;

  constructor(log: Logger) {
    this.#log = log;
  }

  /** Resolves when every writing asked for so far has ended. */
  get written(): Promise<void> {
    return this.#written;
  }

  /** Removes the drafts of earlier runs that were killed while writing. */
  async sweep(file: string): Promise<void> {
    const removed = await sweepDrafts(file);
    if (removed.length > 0) this.#log.info({ file, removed }, "unfinished state files removed");
  }

  /** A failure is logged and ends nothing. */
  write(file: string, current: () => Snapshot): void {
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    this.#written = this.#written
      .then(() => {
        this.#isWaiting = false;
        return writeMembers(file, current());
      })
      .catch((error: unknown) => this.#log.error({ err: error, file }, "members not written"));
  }
}

/** Whether two parts have the same nodes at the same addresses, drained and accused alike, and the same claim stood last, so that nothing new is to be written. */
export function hasSameMembership(before: ClusterState, after: ClusterState): boolean {
  return (
    before.drains === after.drains &&
    before.leadership.incumbent === after.leadership.incumbent &&
    before.nodes.length === after.nodes.length &&
    hasSameAccusations(before, after) &&
    after.nodes.every(
      ({ node }, at) => node.name === before.nodes[at]?.node.name && node.api === before.nodes[at].node.api,
    )
  );
}

function remembered({ name, api, database }: Node): object {
  return {
    name,
    api,
    ...(database === null
      ? {}
      : { database: `${database.host.includes(":") ? `[${database.host}]` : database.host}:${database.port}` }),
  };
}

/** By cluster name: its members, and the node whose claim stood last. */
interface Remembered {
  readonly members: JsonObject;
  readonly stood: JsonObject;
}

function parseMembers(file: string, onProblem: (problem: string) => void): Remembered {
  const { value, problem } = readStateFile(file);
  if (problem !== null) onProblem(problem);
  const section = (key: string): JsonObject => (isObject(value[key]) ? value[key] : {});
  return { members: section("clusters"), stood: section("stood") };
}

function rememberedNodes(value: unknown, cluster: string, onProblem: (problem: string) => void): Node[] {
  if (value === undefined) return [];
  const entries = listOf(value).slice(0, membersMax);
  const nodes = new Map(entries.flatMap(rememberedNode).map((node) => [node.name, node]));
  const left = listOf(value).length - nodes.size;
  if (left > 0 || !Array.isArray(value))
    onProblem(`members of cluster ${cluster} left out: ${Array.isArray(value) ? left : "all"}`);
  return [...nodes.values()];
}

function rememberedNode(value: unknown): Node[] {
  if (!isObject(value)) return [];
  const [name, api] = [nodeNameOf(value["name"]), originOf(value["api"])];
  if (name === null || api === null) return [];
  const database = typeof value["database"] === "string" ? (parseDatabaseAddress(value["database"]) ?? null) : null;
  return [
    { name, member: name, isMemberFixed: false, api, exporter: null, database, isArchiveFed: false, isFixed: false },
  ];
}
