import { readFileSync } from "node:fs";
import { rename, writeFile } from "node:fs/promises";
import { isAccusedAlike, rememberedAccusations } from "./accusations-file.ts";
import { originOf } from "./cluster/cluster-document.ts";
import { isObject, listOf, nameOf, parseJson } from "./cluster/json.ts";
import { parseDatabaseAddress } from "./health/check.ts";
import type { Node } from "./cluster/node.ts";
import { unseen } from "./cluster/observation.ts";
import type { ClusterPart, Snapshot } from "./cluster/snapshot.ts";
import type { ClusterConfig } from "./config/config.ts";
import { rememberedDrains } from "./drains-file.ts";
import type { Logger } from "./log.ts";
import { withNodes } from "./health/membership.ts";
import { emptyPart } from "./tend.ts";

/** Where our clock begins: from then on a remembered member has a day to answer before it is forgotten (design.md, rule 10). */
const beginningMs = 0;

/**
 * Reads the members that an earlier run discovered, for the case that every seed is down now (config key `state_file`).
 * They are names and addresses only: each must answer before anything is said of it.
 * @returns a part for each cluster that the file knows; none where it is absent or cannot be read
 */
export function readMembers(file: string, clusters: readonly ClusterConfig[]): ReadonlyMap<string, ClusterPart> {
  const known = parseMembers(file);
  const parts = new Map<string, ClusterPart>();
  for (const cluster of clusters) {
    const nodes = cluster.discover.length === 0 ? [] : listOf(known[cluster.name]).flatMap(rememberedNode);
    if (nodes.length === 0) continue;
    parts.set(
      cluster.name,
      withNodes(
        emptyPart(cluster),
        nodes.map((node) => ({ ...unseen(node), listedAtMs: beginningMs })),
      ),
    );
  }
  return parts;
}

/** Writes the discovered members of all clusters, the drains, and who is accused (rule 5); the file is replaced whole. @throws what the file system says */
export async function writeMembers(file: string, snapshot: Snapshot): Promise<void> {
  const clusters = Object.fromEntries(
    snapshot.parts.map((part) => [part.name, part.nodes.filter(({ node }) => !node.isFixed).map(({ node }) => remembered(node))]),
  );
  const draft = `${file}.${process.pid}.tmp`;
  const state = { version: 1, clusters, drains: rememberedDrains(snapshot), accused: rememberedAccusations(snapshot) };
  await writeFile(draft, `${JSON.stringify(state, null, 2)}\n`, { mode: 0o600 });
  await rename(draft, file);
}

/** The file as it is written while the process runs: one writing after the other, each with what is known when it begins. */
export class MembersFile {
  readonly #log: Logger;
  #written: Promise<void> = Promise.resolve();

  constructor(log: Logger) {
    this.#log = log;
  }

  /** Resolves when every writing asked for so far has ended. */
  get written(): Promise<void> {
    return this.#written;
  }

  /** A failure is told and ends nothing. */
  write(file: string, current: () => Snapshot): void {
    this.#written = this.#written
      .then(() => writeMembers(file, current()))
      .catch((error: unknown) => this.#log.error({ err: error, file }, "members not written"));
  }
}

/** Whether two parts have the same nodes at the same addresses, drained and accused alike, so that nothing new is to be written. */
export function isRememberedAlike(before: ClusterPart, after: ClusterPart): boolean {
  return (
    before.drains === after.drains &&
    before.nodes.length === after.nodes.length &&
    isAccusedAlike(before, after) &&
    after.nodes.every(({ node }, at) => node.name === before.nodes[at]?.node.name && node.api === before.nodes[at].node.api)
  );
}

function remembered({ name, api, database }: Node): object {
  return {
    name,
    api,
    ...(database === null ? {} : { database: `${database.host.includes(":") ? `[${database.host}]` : database.host}:${database.port}` }),
  };
}

function parseMembers(file: string): { readonly [cluster: string]: unknown } {
  try {
    const value = parseJson(readFileSync(file, "utf8"));
    return isObject(value) && isObject(value["clusters"]) ? value["clusters"] : {};
  } catch {
    return {};
  }
}

function rememberedNode(value: unknown): Node[] {
  if (!isObject(value)) return [];
  const [name, api] = [nameOf(value["name"], 128), originOf(value["api"])];
  if (name === null || api === null) return [];
  const database = typeof value["database"] === "string" ? (parseDatabaseAddress(value["database"]) ?? null) : null;
  return [{ name, member: name, isMemberFixed: false, api, exporter: null, database, isArchiveFed: false, isFixed: false }];
}
