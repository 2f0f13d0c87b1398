import { setTimeout as sleep } from "node:timers/promises";
import { errorMessage } from "../../../cluster/values/error-message.ts";
import type { ConnectionTarget } from "./connection-target.ts";
import { withSession, type QueryLimits } from "./database-session.ts";

/** The start of the name of every schema that a rehearsal makes. */
const schemaPrefix = "rolecall_rehearsal_";
/** Pause between two attempts to remove the schema, in ms. */
const retryMs = 250;
/** How long one attempt may take, in ms. */
const attemptMs = 3_000;

/** The name of the schema of one rehearsal. @param id a random text of hexadecimal digits */
export function schemaName(id: string): string {
  return `${schemaPrefix}${id}`;
}

/** The statement that removes a schema. */
export function removalSql(schema: string): string {
  return `DROP SCHEMA IF EXISTS ${quoted(schema)} CASCADE`;
}

/** The name of the table that the writes go to, with its schema. */
export function writesTable(schema: string): string {
  return `${quoted(schema)}.writes`;
}

/** Makes the schema and its only table in one transaction. @throws SqlError */
export async function createSchema(target: ConnectionTarget, schema: string, limits: QueryLimits): Promise<void> {
  const statements = [
    `CREATE SCHEMA ${quoted(schema)}`,
    `COMMENT ON SCHEMA ${quoted(schema)} IS 'made by rolecall rehearse; it can be dropped when no rehearsal runs'`,
    `CREATE TABLE ${writesTable(schema)} (n bigint PRIMARY KEY, at timestamptz NOT NULL DEFAULT clock_timestamp())`,
  ];
  await withSession(target, limits, (session) => session.query(statements.join("; "), limits));
}

/** The schemas of other rehearsals: they run now, or could not remove them. @throws SqlError */
export async function leftoverSchemas(target: ConnectionTarget, limits: QueryLimits): Promise<readonly string[]> {
  const sql = `SELECT nspname FROM pg_namespace WHERE nspname LIKE '${schemaPrefix.replaceAll("_", "\\_")}%' ORDER BY 1`;
  const rows = await withSession(target, limits, (session) => session.query(sql, limits));
  return rows.flatMap(({ nspname }) => nspname ?? []);
}

/** How to remove a schema. */
export interface Removal {
  readonly schema: string;
  /** How long to try, in ms. */
  readonly deadlineMs: number;
  /**
   * For how long the schema must be gone on a writable server, in ms: while a switchover may still be under way, the
   * next primary may not have received the removal.
   */
  readonly goneForMs: number;
}

/**
 * Removes the schema, and verifies on a writable server that it is gone. Retries until the deadline.
 * @returns `null`, or why it could not be removed
 */
export async function removeSchema(
  target: ConnectionTarget,
  { schema, deadlineMs, goneForMs }: Removal,
): Promise<string | null> {
  const endMs = performance.now() + deadlineMs;
  let goneSinceMs: number | null = null;
  let problem = "no attempt was made";
  for (;;) {
    const startedMs = performance.now();
    const outcome = await tryToRemove(target, schema, Math.min(attemptMs, Math.max(1, Math.round(endMs - startedMs))));
    if (outcome === null) {
      goneSinceMs ??= startedMs;
      if (performance.now() - goneSinceMs >= goneForMs) return null;
    } else {
      goneSinceMs = null;
      problem = outcome;
    }
    // A removal that was acknowledged, and only not watched for long enough, counts.
    if (performance.now() + retryMs >= endMs) return goneSinceMs === null ? problem : null;
    await sleep(retryMs);
  }
}

async function tryToRemove(target: ConnectionTarget, schema: string, timeoutMs: number): Promise<string | null> {
  const limits = { timeoutMs, signals: [] };
  const gone = `SELECT pg_is_in_recovery() OR EXISTS (SELECT FROM pg_namespace WHERE nspname = '${schema}') AS exists`;
  try {
    return await withSession(target, limits, async (session) => {
      await session.query(`SET client_min_messages = warning; ${removalSql(schema)}`, limits);
      const [row] = await session.query(gone, limits);
      return row?.["exists"] === "f" ? null : "the schema still exists";
    });
  } catch (error) {
    return errorMessage(error);
  }
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
