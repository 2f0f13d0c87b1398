/** The table that canaries write and read, and their statements. All are of the simple query protocol. */

/** The identity of a row: one for each write canary of each rolecall. */
export interface CanaryRow {
  /** Names the rolecall: its host and a port of it, so that a restart writes the same row. */
  readonly instance: string;
  readonly pool: string;
  readonly target: string;
}

/** What creates the table, for the owner of the database to run once. @param role the user of the canaries' URLs */
export function tableSql(role: string): string {
  return `CREATE TABLE IF NOT EXISTS rolecall_canary (
  instance text NOT NULL,
  pool text NOT NULL,
  target text NOT NULL,
  written_at timestamptz NOT NULL,
  PRIMARY KEY (instance, pool, target)
);
GRANT SELECT, INSERT, UPDATE ON rolecall_canary TO ${quotedName(role)};
`;
}

/** How long statements of one transaction may take on the server, in ms. */
interface StatementLimits {
  readonly statementMs: number;
  readonly lockMs: number;
  readonly idleMs: number;
}

/**
 * Begins a transaction, limits it, and asks who answers. SET LOCAL: a pooler gives the next transaction of this session
 * another server connection.
 */
export function beginSql(isReadOnly: boolean, { statementMs, lockMs, idleMs }: StatementLimits): string {
  return [
    `BEGIN${isReadOnly ? " READ ONLY" : ""}`,
    `SET LOCAL statement_timeout = ${statementMs}`,
    `SET LOCAL lock_timeout = ${lockMs}`,
    `SET LOCAL idle_in_transaction_session_timeout = ${idleMs}`,
    "SELECT pg_catalog.host(pg_catalog.inet_server_addr()) AS address, pg_catalog.inet_server_port() AS port, " +
      "pg_catalog.pg_is_in_recovery() AS in_recovery, " +
      "pg_catalog.has_function_privilege('pg_catalog.pg_control_system()', 'EXECUTE') AS may_ask_system",
  ].join("; ");
}

/** For users who may call the function: PostgreSQL checks that before it looks at any condition. */
export const systemSql = "SELECT system_identifier::text AS system FROM pg_catalog.pg_control_system()";

/**
 * Needs disk space, as writes of clients do: the row alone finds place in its page for ever, however full the volume is. A
 * sort in the least memory writes 200 kB to a temporary file beside the tables, whose room the system reserves at once.
 * Not where temp_file_limit forbids it.
 */
const spaceSql =
  "SET LOCAL work_mem = 64; SET LOCAL temp_tablespaces = ''; " +
  "SELECT pg_catalog.max(pg_catalog.length(wide)) FROM (SELECT pg_catalog.repeat('x', 100) AS wide FROM " +
  "pg_catalog.generate_series(1, CASE WHEN pg_catalog.current_setting('temp_file_limit') = '-1' THEN 2000 " +
  "WHEN pg_catalog.pg_size_bytes(pg_catalog.current_setting('temp_file_limit')) >= 1048576 THEN 2000 ELSE 0 END) AS n " +
  "ORDER BY -n OFFSET 0) AS sorted";

/** Needs disk space, and writes the row. @param quoted quotes a literal */
export function writeSql({ instance, pool, target }: CanaryRow, quoted: (text: string) => string): string {
  const values = [instance, pool, target].map(quoted).join(", ");
  return (
    `${spaceSql}; INSERT INTO rolecall_canary (instance, pool, target, written_at) VALUES (${values}, pg_catalog.clock_timestamp()) ` +
    "ON CONFLICT (instance, pool, target) DO UPDATE SET written_at = excluded.written_at"
  );
}

/** Reads how old the newest row is, by the clock of the server. */
export const readSql =
  "SELECT (1000 * extract(epoch FROM pg_catalog.clock_timestamp() - pg_catalog.max(written_at)))::bigint::text " +
  "AS age_ms FROM rolecall_canary";

/** Since when an earlier commit of the same user waits for a synchronous standby: a user sees its own sessions. */
export const waitingCommitSql =
  "SELECT (1000 * extract(epoch FROM pg_catalog.clock_timestamp() - xact_start))::bigint::text AS waits_ms " +
  "FROM pg_catalog.pg_stat_activity WHERE usename = current_user AND wait_event = 'SyncRep' ORDER BY xact_start LIMIT 1";

function quotedName(name: string): string {
  return /^[a-z_][a-z0-9_]*$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`;
}
