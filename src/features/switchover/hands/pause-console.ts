import { createHash } from "node:crypto";

/** A run, as consoles name it. */
export interface PausingRun {
  readonly run: string;
  readonly cluster: string;
  /** Of two runs of a cluster the later one has the higher number. */
  readonly generation: number;
}

/**
 * The `application_name` of the consoles that a run sends PAUSE on: by it, everybody who reaches the PgBouncer recognizes
 * the run, and which of two is the later one. It is shorter than the 63 bytes that PostgreSQL keeps.
 */
export function pauseConsoleName({ run, cluster, generation }: PausingRun): string {
  return `${prefix}${run}.${generation}.${shortName(cluster)}`;
}

/** Another run of the cluster of which a console is open: it may send PAUSE at any time. */
export interface SeenRun {
  readonly run: string;
  readonly generation: number;
}

/** The runs of a cluster among the names of consoles. */
export function runsOf(cluster: string, names: readonly (string | null)[]): readonly SeenRun[] {
  const own = shortName(cluster);
  return names.flatMap((name) => {
    const match = name?.startsWith(prefix) === true ? pattern.exec(name.slice(prefix.length)) : null;
    const [, run = "", generation = "", of = ""] = match ?? [];
    return match === null || of !== own ? [] : [{ run, generation: Number(generation) }];
  });
}

/** Whether a run is the later one of two. Of two that do not know of each other the name decides: both decide alike. */
export function isLater(one: SeenRun, other: SeenRun): boolean {
  return one.generation === other.generation ? one.run > other.run : one.generation > other.generation;
}

const prefix = "rolecall pause ";
const pattern = /^([\w:-]{1,32})\.(\d{1,16})\.([0-9a-f]{8})$/;

/** Names of clusters may be long, and hold any character. */
function shortName(cluster: string): string {
  return createHash("sha256").update(cluster).digest("hex").slice(0, 8);
}
