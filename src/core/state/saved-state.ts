import { errorMessage } from "../cluster/values/error-message.ts";
import { isObject, listOf, parseJson, type JsonObject } from "../cluster/values/json.ts";
import type { SavedClaim } from "../cluster/leadership.ts";
import type { ClusterState, Snapshot } from "../cluster/snapshot.ts";
import { isSameLastClaim } from "../health/evidence/leadership/last-claim.ts";
import type { ClusterConfig } from "../config/model/config.ts";
import { replaceFile } from "./files/atomic-file.ts";
import { readRegularFileLater } from "../files/regular-file.ts";
import { accusationsToJson, hasSameAccusations, parseAccusations, type Accusation } from "./saved-accusations.ts";
import { drainsToJson, parseDrains, type SavedDrain } from "./saved-drains.ts";
import { noBootClock, type BootClock } from "./boot-clock.ts";
import { claimsToJson, parseClaims } from "./saved-claims.ts";
import { hasSameRefusals, parseRefusals, refusalsToJson, type SavedRefusal } from "./saved-refusals.ts";
import { hasSameNames, namesToJson, parseNames, type SavedName } from "./saved-names.ts";
import { listedToJson, parseListed } from "./saved-listed.ts";
import { hasSameMembers, membersToJson, parseMembers, type SavedCluster } from "./saved-members.ts";

/** What an earlier run wrote to the state file (config key `state_file`). */
export interface SavedState {
  /** The discovered members and the incumbent of each configured cluster that the file knows, by cluster name. */
  readonly clusters: ReadonlyMap<string, SavedCluster>;
  readonly accusations: readonly Accusation[];
  readonly refusals: readonly SavedRefusal[];
  /** The claim of each cluster that stood last, by cluster name. */
  readonly claims: ReadonlyMap<string, SavedClaim>;
  readonly drains: readonly SavedDrain[];
  /** The clusters of which another instance has told this one something: proofs of their addresses are its word. */
  readonly heard: readonly string[];
  readonly names: readonly SavedName[];
  /** The clusters whose lists say where members are. */
  readonly listed: readonly string[];
  /** Why the file, or a part of it, is not used. */
  readonly problems: readonly string[];
}

/** More than any state file of ours: a longer file was not written by us and is not read. In bytes. */
const bytesMax = 16 * 1024 * 1024;

/** What is read from an absent file, and before any file was read. */
export const noSavedState: SavedState = {
  clusters: new Map(),
  accusations: [],
  refusals: [],
  claims: new Map(),
  drains: [],
  heard: [],
  names: [],
  listed: [],
  problems: [],
};

/**
 * Reads the state file for the configured clusters. Never rejects: a file that cannot be used is named in `problems`,
 * and the process starts without it.
 */
export async function readSavedState(
  file: string,
  configured: readonly ClusterConfig[],
  boot: BootClock = noBootClock,
): Promise<SavedState> {
  const { value, problem } = await readContent(file);
  if (value === null) return { ...noSavedState, problems: problem === null ? [] : [problem] };
  const { clusters, problems } = parseMembers(section(value, "clusters"), section(value, "stood"), configured);
  return {
    clusters,
    accusations: parseAccusations(value["accused"]),
    refusals: parseRefusals(value["refused"]),
    claims: parseClaims(section(value, "held"), boot),
    drains: parseDrains(value["drains"], boot),
    names: parseNames(value["named"]),
    listed: parseListed(value["listed"]),
    heard: listOf(value["heard"]).flatMap((name) => (typeof name === "string" ? [name] : [])),
    problems,
  };
}

/**
 * Writes what must survive a restart: the discovered members of all clusters, the incumbents, the nodes marked
 * detached, stalled or diverged (rules 5 and 6), the marks of refused claims (rule 2), the claims that stood last
 * (guard `survive`), the drains, which nodes without an API sender lists have named (rule 5), and of which clusters a listed
 * address has proved itself (rule 10). The file is replaced whole. Versions before ignore a section that they do not know,
 * and one that is missing says nothing.
 * @param options.heard the clusters of which another instance has told this one something
 * @throws the file system's error
 */
export async function writeSavedState(
  file: string,
  snapshot: Snapshot,
  { boot = noBootClock, heard = [] }: { readonly boot?: BootClock; readonly heard?: readonly string[] } = {},
): Promise<void> {
  const content = {
    version: 1,
    clusters: membersToJson(snapshot),
    stood: Object.fromEntries(
      snapshot.clusters.flatMap(({ name, leadership: { incumbent } }) =>
        incumbent === null ? [] : [[name, incumbent]],
      ),
    ),
    drains: drainsToJson(snapshot, boot),
    accused: accusationsToJson(snapshot),
    refused: refusalsToJson(snapshot),
    held: claimsToJson(snapshot, boot),
    heard: snapshot.clusters.flatMap(({ name }) => (heard.includes(name) ? [name] : [])),
    named: namesToJson(snapshot),
    listed: listedToJson(snapshot),
  };
  await replaceFile(file, `${JSON.stringify(content, null, 2)}\n`);
}

/** Whether two states of a cluster have the same saved content, so that the file need not be written again. */
export function hasSameSavedState(before: ClusterState, after: ClusterState): boolean {
  return (
    before.drains === after.drains &&
    before.hasListedProof === after.hasListedProof &&
    before.leadership.incumbent === after.leadership.incumbent &&
    hasSameMembers(before, after) &&
    hasSameRefusals(before, after) &&
    isSameLastClaim(before, after) &&
    hasSameAccusations(before, after) &&
    hasSameNames(before, after)
  );
}

/** @returns `value: null` for a file that is absent or cannot be used, with the reason in `problem` */
async function readContent(
  file: string,
): Promise<{ readonly value: JsonObject | null; readonly problem: string | null }> {
  try {
    const value = parseJson(await readRegularFileLater(file, bytesMax));
    if (!isObject(value)) return unusable("must be a JSON object, got something else");
    if (!isObject(value["clusters"])) return unusable("must have an object `clusters`, got none");
    return { value, problem: null };
  } catch (error) {
    const isAbsent = error instanceof Error && "code" in error && error.code === "ENOENT";
    return isAbsent ? { value: null, problem: null } : unusable(errorMessage(error));
  }
}

function unusable(problem: string): { readonly value: null; readonly problem: string } {
  return { value: null, problem };
}

function section(value: JsonObject, key: string): JsonObject {
  return isObject(value[key]) ? value[key] : {};
}
