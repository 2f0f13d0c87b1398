import { readFileSync } from "node:fs";
import { rename, writeFile } from "node:fs/promises";
import { originOf } from "./cluster/cluster-document.ts";
import { isObject, listOf, nameOf, parseJson } from "./cluster/json.ts";
import { parseDatabaseAddress } from "./health/check.ts";
import type { Node } from "./cluster/node.ts";
import { unseen } from "./cluster/observation.ts";
import type { ClusterPart, Snapshot } from "./cluster/snapshot.ts";
import type { ClusterConfig } from "./config/config.ts";
import { rememberedDrains } from "./drains-file.ts";
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

/** Writes the discovered members of all clusters, and the drains; the file is replaced whole. @throws what the file system says */
export async function writeMembers(file: string, snapshot: Snapshot): Promise<void> {
  const clusters = Object.fromEntries(
    snapshot.parts.map((part) => [part.name, part.nodes.filter(({ node }) => !node.isFixed).map(({ node }) => remembered(node))]),
  );
  const draft = `${file}.${process.pid}.tmp`;
  await writeFile(draft, `${JSON.stringify({ version: 1, clusters, drains: rememberedDrains(snapshot) }, null, 2)}\n`, { mode: 0o600 });
  await rename(draft, file);
}

/** Whether two parts have the same nodes at the same addresses, so that nothing new is to be written. */
export function isRememberedAlike(before: ClusterPart, after: ClusterPart): boolean {
  return (
    before.drains === after.drains &&
    before.nodes.length === after.nodes.length &&
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
