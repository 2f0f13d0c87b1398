import { withoutUnsafe } from "../../core/cluster/values/unsafe-text.ts";
import { errorMessage } from "../../core/cluster/values/error-message.ts";
import type { DatabaseAddress } from "../../core/cluster/node.ts";
import { ConsoleError, refusalOf } from "../../core/balancing/pgbouncer/console-error.ts";
import type { PgbouncerConsole } from "../../core/balancing/pgbouncer/console.ts";
import { quoteDatabase } from "../../core/balancing/pgbouncer/console.ts";
import { routeDatabases, type WrittenDatabases } from "../../core/balancing/pgbouncer/databases-file.ts";
import {
  readClients,
  readDatabases,
  readServers,
  type ShownConnection,
  type ShownDatabase,
} from "../../core/balancing/pgbouncer/documents.ts";
import type { IncludedFiles, ReadFile } from "../../core/balancing/pgbouncer/included-file.ts";
import { lowerPools, type PoolGrowth, raisedPools, raisePools } from "./raised-pools.ts";

/** The servers that databases should have, by the names of the databases. */
export type Routes = ReadonlyMap<string, DatabaseAddress>;

/** What came of routing the databases of one file. */
export type RoutingOutcome =
  /** File and PgBouncer had these servers already. */
  | { readonly kind: "unchanged" }
  /**
   * PgBouncer shows the new servers. `ledTo`: where those that it showed elsewhere had led. `problem`: connections to the
   * old servers may still be used
   */
  | {
      readonly kind: "routed";
      readonly databases: readonly string[];
      readonly ledTo: ReadonlyMap<string, string>;
      readonly problem: string | null;
    }
  /** PgBouncer has its old servers. */
  | { readonly kind: "failed"; readonly problem: string };

/** What the routing needs. */
export interface RoutingTools {
  readonly console: Pick<PgbouncerConsole, "query">;
  readonly files: IncludedFiles;
  /** Whether the pool of a database grows by the servers that it has elsewhere: those of a dead machine count in it. */
  readonly grows: (database: string) => boolean;
  /** For each command, in ms. */
  readonly limitMs: number;
}

/**
 * Points databases to their servers: writes the file, reloads, and reads back. If PgBouncer does not show the new
 * servers, the old file comes back. Connections to old servers are closed once they are free (RECONNECT). Does nothing
 * that is done already.
 * @throws ConsoleError if the console gives no answer. The new file stays then: PgBouncer reads it at its next start
 */
export async function routeFile(tools: RoutingTools, file: string, routes: Routes): Promise<RoutingOutcome> {
  const before = await shownDatabases(tools);
  const wrongBefore = wrongOf(before, routes);
  let known: ReadFile;
  let text: string;
  try {
    known = await tools.files.read(file);
    const routed = routeDatabases(known.text, routes);
    const written =
      "problem" in routed ? routed : await grown(tools, routed.text, { shown: before, wrong: wrongBefore });
    if ("problem" in written) return { kind: "failed", problem: `${file}: ${written.problem}` };
    ({ text } = written);
    if (text === known.text && wrongBefore.length === 0) return { kind: "unchanged" };
    if (text !== known.text) await tools.files.replace(known, text);
  } catch (error) {
    if (error instanceof ConsoleError) throw error;
    return { kind: "failed", problem: errorMessage(error) };
  }
  const problem = await reloadProblem(tools, file, routes);
  if (problem === null) {
    const refused = await reconnect(tools, wrongBefore);
    const ledTo = new Map(wrongBefore.map((name) => [name, shownServer(before, name)]));
    return { kind: "routed", databases: wrongBefore, ledTo, problem: refused };
  }
  if (text === known.text) return { kind: "failed", problem };
  return { kind: "failed", problem: `${problem}; ${await restore(tools, { known, text, before, routes })}` };
}

/** The text with larger pools for the databases that lead elsewhere still, and have servers there that are in use. */
async function grown(
  tools: RoutingTools,
  text: string,
  { shown, wrong }: { readonly shown: readonly ShownDatabase[]; readonly wrong: readonly string[] },
): Promise<WrittenDatabases> {
  const names = wrong.filter(tools.grows);
  if (names.length === 0) return { text };
  const servers = await shownServers(tools);
  const growths = new Map<string, PoolGrowth>();
  for (const name of names) {
    const size = shown.find((database) => database.name === name)?.poolSize ?? null;
    const count = servers.filter((server) => server.database === name && isInUse(server)).length;
    if (size !== null && count > 0) growths.set(name, { servers: count, size });
  }
  return growths.size === 0 ? { text } : raisePools(text, growths);
}

/** What came of a look at pools that are raised. */
export interface LoweredPools {
  /** The databases that have old servers still, with these. */
  readonly left: ReadonlyMap<string, readonly ShownConnection[]>;
  /** The databases whose pools have their old size. */
  readonly lowered: readonly string[];
  /** Why they do not have it; `null` if nothing was in the way. */
  readonly problem: string | null;
}

/**
 * Gives the pools of a file that were raised their old sizes once no server is left that the database does not lead to any
 * more.
 * @throws ConsoleError if the console gives no answer
 */
export async function lowerFile(tools: Omit<RoutingTools, "grows">, file: string): Promise<LoweredPools> {
  const none = { left: new Map<string, readonly ShownConnection[]>(), lowered: [], problem: null };
  // A file that cannot be read is reported where databases are led.
  const known = await tools.files.read(file).catch(() => null);
  const raised = [...raisedPools(known?.text ?? null).keys()];
  if (known === null || known.text === null || raised.length === 0) return none;
  const old = (await shownServers(tools)).filter((server) => server.isCloseNeeded === true && isInUse(server));
  const ofDatabase = raised.map((name) => [name, old.filter(({ database }) => database === name)] as const);
  const left = new Map(ofDatabase.filter(([, servers]) => servers.length > 0));
  const lowered = raised.filter((name) => !left.has(name));
  if (lowered.length === 0) return { left, lowered, problem: null };
  const written = lowerPools(known.text, new Set(lowered));
  if ("problem" in written) return { left, lowered: [], problem: written.problem };
  try {
    await tools.files.replace(known, written.text);
  } catch (error) {
    return { left, lowered: [], problem: errorMessage(error) };
  }
  const refusal = await refusalOf(tools.console.query("RELOAD", tools.limitMs));
  return { left, lowered, problem: refusal === null ? null : `PgBouncer refused RELOAD: ${refusal}` };
}

/**
 * Cuts the clients whose servers these are, and nobody else. A version without KILL_CLIENT cuts nobody.
 * @returns how many
 * @throws ConsoleError if the console gives no answer
 */
export async function cutClientsOf(
  { console, limitMs }: Pick<RoutingTools, "console" | "limitMs">,
  servers: readonly ShownConnection[],
): Promise<number> {
  const clients = readClients(await console.query("SHOW CLIENTS", limitMs));
  let count = 0;
  for (const { pointer, link } of servers) {
    const client = clients.find((one) => one.pointer === link && one.link === pointer);
    if (client === undefined || client.id === null) continue;
    if ((await refusalOf(console.query(`KILL_CLIENT ${client.id}`, limitMs))) === null) count += 1;
  }
  return count;
}

/** PgBouncer closes a server that nobody uses itself, as soon as its database leads elsewhere. */
function isInUse({ state }: ShownConnection): boolean {
  return state !== "idle";
}

async function shownServers({
  console,
  limitMs,
}: Pick<RoutingTools, "console" | "limitMs">): Promise<readonly ShownConnection[]> {
  return readServers(await console.query("SHOW SERVERS", limitMs));
}

async function shownDatabases({
  console,
  limitMs,
}: Pick<RoutingTools, "console" | "limitMs">): Promise<readonly ShownDatabase[]> {
  return readDatabases(await console.query("SHOW DATABASES", limitMs));
}

function wrongOf(shown: readonly ShownDatabase[], routes: Routes): readonly string[] {
  return [...routes].flatMap(([name, { host, port }]) => {
    const database = shown.find((candidate) => candidate.name === name);
    return database?.host === host && database.port === port ? [] : [name];
  });
}

/** Reloads. @returns why PgBouncer does not have the servers of the file; `null` if it has */
async function reloadProblem(tools: RoutingTools, file: string, routes: Routes): Promise<string | null> {
  const refusal = await refusalOf(tools.console.query("RELOAD", tools.limitMs));
  if (refusal !== null) return `PgBouncer refused RELOAD: ${refusal}`;
  const shown = await shownDatabases(tools);
  const [wrong] = wrongOf(shown, routes);
  if (wrong === undefined) return null;
  const database = shown.find(({ name }) => name === wrong);
  const leads =
    database === undefined
      ? `has no database ${wrong}`
      : `leads ${wrong} to ${database.host ?? "a Unix socket"}:${database.port}`;
  return (
    `after RELOAD PgBouncer ${leads}: its configuration must include ${file}, and no later line may ` +
    "define the database"
  );
}

interface Written {
  readonly known: ReadFile;
  readonly text: string;
  readonly before: readonly ShownDatabase[];
  readonly routes: Routes;
}

/** Brings the old file back. @returns what came of it, in words */
async function restore(tools: RoutingTools, { known, text, before, routes }: Written): Promise<string> {
  try {
    await tools.files.replace({ ...known, text }, known.text);
    const refusal = await refusalOf(tools.console.query("RELOAD", tools.limitMs));
    if (refusal !== null) return `the old file is back, and PgBouncer refused RELOAD: ${refusal}`;
    const after = await shownDatabases(tools);
    const changed = [...routes.keys()].filter((name) => serverOf(after, name) !== serverOf(before, name));
    return changed.length === 0
      ? "the old file is back"
      : `the old file is back, and PgBouncer leads ${changed.join(", ")} elsewhere than before`;
  } catch (error) {
    if (error instanceof ConsoleError) throw error;
    return `the old file could not be brought back: ${errorMessage(error)}`;
  }
}

/** Where a database leads, for people. */
function shownServer(shown: readonly ShownDatabase[], name: string): string {
  const database = shown.find((candidate) => candidate.name === name);
  if (database === undefined) return "nowhere";
  return withoutUnsafe(`${database.host ?? "a Unix socket"}:${database.port ?? "?"}`.slice(0, 300));
}

function serverOf(shown: readonly ShownDatabase[], name: string): string {
  const database = shown.find((candidate) => candidate.name === name);
  return `${database?.host ?? ""}:${database?.port ?? ""}`;
}

/** @returns what PgBouncer answered where it refused; `null` otherwise */
async function reconnect({ console, limitMs }: RoutingTools, databases: readonly string[]): Promise<string | null> {
  const refusals: string[] = [];
  for (const name of databases) {
    const refusal = await refusalOf(console.query(`RECONNECT ${quoteDatabase(name)}`, limitMs));
    if (refusal !== null) refusals.push(`PgBouncer refused RECONNECT ${name}: ${refusal}`);
  }
  return refusals.length === 0 ? null : refusals.join("; ");
}
