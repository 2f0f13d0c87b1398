/**
 * Pools that are larger for a while, because servers of a machine that has vanished count in them. What they were before is
 * in the file itself, in a comment above the line of the database: whichever process writes the file next sees it. Pure.
 */
import { databaseLines, pairsOf, type WrittenDatabases } from "../../core/balancing/pgbouncer/databases-file.ts";

/** A pool that is larger than it should be. */
export interface RaisedPool {
  /** What the line said before; `null`: nothing. */
  readonly before: number | null;
  /** How large it was. */
  readonly size: number;
  /** How large it is now. */
  readonly raised: number;
}

/** By how much a pool has to grow. */
export interface PoolGrowth {
  /** How many old servers count in it. */
  readonly servers: number;
  /** How large it is, as PgBouncer shows it. */
  readonly size: number;
}

/** The pools of a file that are raised, by the names of their databases. @param text `null`: there is none */
export function raisedPools(text: string | null): ReadonlyMap<string, RaisedPool> {
  const found = new Map<string, RaisedPool>();
  for (const { text: line } of databaseLines(text ?? "")) {
    const match = pattern.exec(line);
    if (match === null) continue;
    const [, name = "", unset, size, raised] = match;
    found.set(name, { before: unset === undefined ? Number(size) : null, size: Number(size), raised: Number(raised) });
  }
  return found;
}

/** Raises pools by their old servers. One that is raised already is measured by what it was before that. */
export function raisePools(text: string, growths: ReadonlyMap<string, PoolGrowth>): WrittenDatabases {
  const known = raisedPools(text);
  const written: string[] = [];
  for (const { text: line, database } of databaseLines(text)) {
    const commented = pattern.exec(line)?.[1];
    if (commented !== undefined && growths.has(commented)) continue;
    const growth = database === null ? undefined : growths.get(database.name);
    if (database === null || growth === undefined) {
      written.push(line);
      continue;
    }
    const set = poolSizeOf(line.slice(database.from, database.to));
    if (set === undefined) return { problem: `the pool_size of database ${database.name} cannot be read` };
    const earlier = known.get(database.name);
    const before = earlier === undefined ? set : earlier.before;
    const size = earlier?.size ?? set ?? growth.size;
    const raised = size + growth.servers;
    const end = line.endsWith("\r\n") ? "\r\n" : "\n";
    written.push(`${commentOf(database.name, { before, size, raised })}${end}`, withPoolSize(line, database, raised));
  }
  return { text: written.join("") };
}

/** Gives pools their old sizes. What somebody else has changed since stays as it is. */
export function lowerPools(text: string, names: ReadonlySet<string>): WrittenDatabases {
  const known = raisedPools(text);
  const written: string[] = [];
  for (const { text: line, database } of databaseLines(text)) {
    const commented = pattern.exec(line)?.[1];
    if (commented !== undefined && names.has(commented)) continue;
    const raised = database === null || !names.has(database.name) ? undefined : known.get(database.name);
    const isOurs =
      database !== null && raised !== undefined && poolSizeOf(line.slice(database.from, database.to)) === raised.raised;
    written.push(isOurs ? withPoolSize(line, database, raised.before) : line);
  }
  return { text: written.join("") };
}

const pattern =
  /^; rolecall: pool_size of ([\w.-]+) was (not set, and so )?(\d{1,9}), and is (\d{1,9}) while old servers hang/;

function commentOf(name: string, { before, size, raised }: RaisedPool): string {
  const was = before === null ? `not set, and so ${size}` : String(size);
  return `; rolecall: pool_size of ${name} was ${was}, and is ${raised} while old servers hang. Keep this line`;
}

/** @returns `null`: it has none; `undefined`: it cannot be read */
function poolSizeOf(value: string): number | null | undefined {
  const pair = pairsOf(value)?.find(({ key }) => key === "pool_size");
  if (pair === undefined) return pairsOf(value) === null ? undefined : null;
  const written = value.slice(pair.from, pair.to);
  return /^\d{1,9}$/.test(written) ? Number(written) : undefined;
}

/** A line with another `pool_size`. @param size `null`: none */
function withPoolSize(
  line: string,
  { from, to }: { readonly from: number; readonly to: number },
  size: number | null,
): string {
  const value = line.slice(from, to);
  const pairs = pairsOf(value) ?? [];
  const at = pairs.findIndex(({ key }) => key === "pool_size");
  const pair = pairs[at];
  let changed: string;
  if (pair === undefined) changed = size === null ? value : `${value} pool_size=${size}`;
  else if (size !== null) changed = `${value.slice(0, pair.from)}${size}${value.slice(pair.to)}`;
  else changed = `${value.slice(0, pairs[at - 1]?.to ?? 0)}${value.slice(pair.to)}`.replace(/^ +/, "");
  return `${line.slice(0, from)}${changed}${line.slice(to)}`;
}
