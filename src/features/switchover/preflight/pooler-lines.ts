import type { PooledDatabaseConfig } from "../../../core/config/model/config.ts";
import { countText } from "../../../core/health/wording.ts";
import { poolerFindings } from "./pooler-settings.ts";
import { type PoolerSetup, relevantDatabases } from "./pooler-setup.ts";
import { okLine, type PreflightLine } from "./preflight-line.ts";

/** What was read of a pooler: what is wrong, or else its figures. The pooler first, then each of its databases. */
export function poolerLines(setup: PoolerSetup): readonly PreflightLine[] {
  const { pooler } = setup;
  const found = poolerFindings(setup).map(({ level, subject, text, hint }) => ({ level, subject, text, hint }));
  const databases = relevantDatabases(setup);
  const fine = [
    ...(databases.length === 0 ? [] : [okLine(pooler.name, figuresOf(setup))]),
    ...databases.map((database) => okLine(`${pooler.name}/${database.name}`, databaseFigures(database, setup))),
  ].filter(({ subject }) => !found.some((line) => line.subject === subject && line.level === "error"));
  return [...fine, ...found];
}

/** The pooler itself. Of what is wrong the findings say more. */
function figuresOf({ pooler, shown, deadlineMs }: PoolerSetup): string {
  const { version, settings } = shown;
  const { processes, user } = pooler.pgbouncer;
  const setting = (key: string): string => settings.get(key) ?? "not known";
  return [
    `PgBouncer ${version.major}.${version.minor}`,
    processes === 1 ? "one process" : `${processes} processes`,
    `user ${user} may PAUSE`,
    `server_login_retry ${setting("server_login_retry")}`,
    `query_wait_timeout ${setting("query_wait_timeout")} for a deadline of ${deadlineMs / 1000} s`,
    `pause_limit ${pooler.pauseLimitMs / 1000} s`,
  ].join(", ");
}

function databaseFigures({ name, file }: PooledDatabaseConfig, { shown }: PoolerSetup): string {
  const found = shown.databases.find((database) => database.name === name);
  const pools = shown.pools.filter(({ database }) => database === name);
  const clients = pools.reduce((sum, pool) => sum + pool.clientsActive + pool.clientsWaiting, 0);
  const mode = found?.poolMode ?? shown.settings.get("pool_mode") ?? "not known";
  const where = `${found?.host ?? "a Unix socket"}:${found?.port ?? "not known"}`;
  const by = file === null ? "" : `, by ${file}`;
  return `not paused, pool_mode ${mode}, ${countText(clients, "client")}, leads to ${where}${by}`;
}
