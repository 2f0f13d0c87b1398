import type { PoolerConfig } from "../../../core/config/model/config.ts";
import { errorMessage } from "../../../core/cluster/values/error-message.ts";
import { type ConsoleTarget, PgbouncerConsole } from "../../../core/balancing/pgbouncer/console.ts";
import { readClients, readDatabases } from "../../../core/balancing/pgbouncer/documents.ts";
import { readPausing } from "../../../core/balancing/pgbouncer/inspect-pgbouncer.ts";
import { readLoginRetry } from "../hands/login-retry.ts";
import type { AnnouncedPooler, Announcement } from "./announcement.ts";
import { ownPooler } from "../claims/own-pooler.ts";

/** A pooler that this process reaches by its own configuration. */
export interface ReachedPooler {
  readonly console: ConsoleTarget;
  /** `server_login_retry`, which the run lowers before RESUME; `null`: it is low already, or not known. */
  readonly loginRetry: string | null;
  /** How long it took to reach and read it, in ms. */
  readonly tookMs: number;
}

/** The poolers of an announcement by name, or why this process must not answer for them. */
export type Reached =
  | { readonly kind: "reached"; readonly poolers: ReadonlyMap<string, ReachedPooler> }
  | { readonly kind: "refused" | "unreached"; readonly problem: string };

/** How long each step on a console may take, in ms. */
const stepMs = 1_000;

/**
 * Finds the poolers of an announcement in the configuration of this process, and reaches the same processes by it.
 * Nothing that was announced is connected to. Changes nothing.
 */
export async function reachPoolers(announced: Announcement, own: readonly PoolerConfig[]): Promise<Reached> {
  const found = announced.poolers.map((pooler) => ({ pooler, found: ownConsole(pooler, announced.cluster, own) }));
  for (const { found: console } of found) if (typeof console === "string") return { kind: "refused", problem: console };
  const reached = await Promise.all(
    found.map(async ({ pooler, found: console }) =>
      typeof console === "string" ? console : reach(pooler, console).catch((error: unknown) => errorMessage(error)),
    ),
  );
  const poolers = new Map<string, ReachedPooler>();
  for (const [at, { pooler }] of announced.poolers.entries()) {
    const one = reached[at];
    if (typeof one !== "object") return { kind: "unreached", problem: `pooler ${pooler}: ${one ?? "not reached"}` };
    poolers.set(pooler, one);
  }
  return { kind: "reached", poolers };
}

/** The console of a pooler by the configuration of this process, or why it has none for this announcement. */
function ownConsole(announced: AnnouncedPooler, cluster: string, own: readonly PoolerConfig[]): ConsoleTarget | string {
  const known = ownPooler(announced, cluster, own);
  if (typeof known === "string") return known;
  const { pooler } = announced;
  if (!("host" in known.pgbouncer.address))
    return `pooler ${pooler} has a socket folder in the configuration of this peer, which must reach it by host:port`;
  return known.pgbouncer;
}

/** @returns why it is not the pooler, if it is not. @throws ConsoleError if it does not answer */
async function reach({ console, databases }: AnnouncedPooler, target: ConsoleTarget): Promise<ReachedPooler | string> {
  const startMs = performance.now();
  const opened = await PgbouncerConsole.open(target, stepMs);
  try {
    const clients = readClients(await opened.query("SHOW CLIENTS", stepMs));
    if (!clients.some(({ applicationName }) => applicationName === console))
      return "this peer reached another PgBouncer, or another process of it: SHOW CLIENTS does not list the caller";
    const shown = new Set(readDatabases(await opened.query("SHOW DATABASES", stepMs)).map(({ name }) => name));
    const missing = databases.find((name) => !shown.has(name));
    if (missing !== undefined) return `SHOW DATABASES does not list ${missing}`;
    if ((await readPausing(opened, stepMs)) === "not_admin")
      return `user ${target.user} of this peer must be in admin_users`;
    const loginRetry = await readLoginRetry(opened, stepMs);
    return { console: target, loginRetry, tookMs: performance.now() - startMs };
  } finally {
    opened.close();
  }
}
