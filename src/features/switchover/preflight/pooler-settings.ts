import type { PooledDatabaseConfig } from "../../../core/config/model/config.ts";
import { isAtLeast, type ShownDatabase, type ShownPool } from "../../../core/balancing/pgbouncer/documents.ts";
import { routeFindings } from "./database-routes.ts";
import { holdMarginMs } from "./hold-advice.ts";
import type { PoolerFinding } from "./pooler-finding.ts";
import { processFindings } from "./pooler-processes.ts";
import { type PoolerSetup, relevantDatabases } from "./pooler-setup.ts";

/** How long a seamless switchover may hold clients, if nothing else is asked for, in ms. */
export const defaultDeadlineMs = 15_000;

/** The highest `server_login_retry` without a warning, in s: clients wait so long after one failed login. */
const loginRetryMaxS = 1;

/**
 * Whether a seamless switchover can hold the clients of a pooler: what its console says against the configuration. Of a
 * pooler without a database that matters it only says whether others lead there.
 * @returns what is wrong, errors and warnings together; nothing if all is well
 */
export function poolerFindings(setup: PoolerSetup): readonly PoolerFinding[] {
  const databases = relevantDatabases(setup);
  if (databases.length === 0) return routeFindings(setup);
  return [
    ...accessFindings(setup),
    ...processFindings(setup),
    ...pauseFindings(setup),
    ...databases.flatMap((database) => databaseFindings(database, setup)),
    ...routeFindings(setup),
    ...versionFindings(setup),
    ...settingFindings(setup),
    ...holdFindings(setup),
  ];
}

function accessFindings({ pooler, shown }: PoolerSetup): readonly PoolerFinding[] {
  if (shown.pausing !== "not_admin") return [];
  const { user } = pooler.pgbouncer;
  return [
    {
      kind: "access",
      level: "error",
      subject: pooler.name,
      text: `user ${user} must be in admin_users, got stats_users: it cannot PAUSE`,
      hint: `Add ${user} to admin_users of PgBouncer, and RELOAD.`,
    },
  ];
}

/** A PAUSE without a database holds all clients, whatever RESUME says of one database. */
function pauseFindings({ pooler, shown }: PoolerSetup): readonly PoolerFinding[] {
  if (shown.pausing !== "held") return [];
  return [
    {
      kind: "already_paused",
      level: "error",
      subject: pooler.name,
      text: "must not be paused or suspended already: all its clients wait",
      hint: "If nobody works on it, send RESUME to its console.",
    },
  ];
}

function databaseFindings(database: PooledDatabaseConfig, setup: PoolerSetup): readonly PoolerFinding[] {
  const { pooler, shown } = setup;
  const subject = `${pooler.name}/${database.name}`;
  const found = shown.databases.find(({ name }) => name === database.name);
  if (found === undefined) {
    const hint = "Add it to [databases] of PgBouncer by its name, or include its file there.";
    const text = "must be in SHOW DATABASES, got none: it does not exist, or only as the automatic *";
    // Before rolecall has written its file it need not exist. What is to be paused must.
    const isError = database.file === null || setup.cluster !== null;
    return [{ kind: "database", level: isError ? "error" : "warning", subject, text, hint }];
  }
  const findings: PoolerFinding[] = [];
  if (found.isDisabled)
    findings.push({
      kind: "database",
      level: "warning",
      subject,
      text: "is disabled: PgBouncer refuses its clients",
      hint: `Send ENABLE ${database.name} to the console.`,
    });
  if (found.isPaused)
    findings.push({
      kind: "already_paused",
      level: "error",
      subject,
      text: "must not be paused already: somebody else holds its clients",
      hint: `If nobody works on it, send RESUME ${database.name} to the console.`,
    });
  return [...findings, ...poolModeFindings(found, subject, setup)];
}

/** In pool mode `session` a server belongs to a client until it goes, and PAUSE waits for that. */
function poolModeFindings(
  database: ShownDatabase,
  subject: string,
  { shown, cluster }: PoolerSetup,
): readonly PoolerFinding[] {
  const pools = shown.pools.filter((pool) => pool.database === database.name);
  const mode = database.poolMode ?? shown.settings.get("pool_mode") ?? "session";
  const inSession = pools.filter((pool) => (pool.poolMode ?? mode) === "session");
  if (mode !== "session" && inSession.length === 0) return [];
  const clients = inSession.reduce((sum, { clientsActive, clientsWaiting }) => sum + clientsActive + clientsWaiting, 0);
  const whose = mode === "session" ? "" : ` for ${usersOf(inSession)}`;
  return [
    {
      kind: "pool_mode",
      // A run would hold the other clients up to `pause_limit`, and then give up.
      level: clients > 0 && cluster !== null ? "error" : "warning",
      subject,
      text: `must have pool_mode transaction or statement, got session${whose}: it cannot be paused while clients are connected (now ${clients})`,
      hint: "Set pool_mode = transaction for the database, if its clients can do with it.",
    },
  ];
}

function usersOf(pools: readonly ShownPool[]): string {
  const users = pools.map(({ user }) => user);
  return users.length > 5 ? `${users.slice(0, 5).join(", ")} and ${users.length - 5} more` : users.join(", ");
}

/** Named prepared statements in transaction pooling: since 1.21, and only with `max_prepared_statements`. */
function versionFindings({ pooler, shown }: PoolerSetup): readonly PoolerFinding[] {
  const { version, settings } = shown;
  const subject = pooler.name;
  if (!isAtLeast(version, 1, 21))
    return [
      {
        kind: "version",
        level: "warning",
        subject,
        text: `must be PgBouncer 1.21 or later for clients with named prepared statements, got ${version.major}.${version.minor}`,
        hint: "Install a later PgBouncer, or let no client use named prepared statements.",
      },
    ];
  if (settings.get("max_prepared_statements") !== "0") return [];
  return [
    {
      kind: "version",
      level: "warning",
      subject,
      text: "max_prepared_statements must be above 0 for clients with named prepared statements, got 0",
      hint: "Set max_prepared_statements = 200, or let no client use named prepared statements.",
    },
  ];
}

/** PgBouncer counts the time of a hold: what ends its clients meanwhile makes the hold useless. */
function holdFindings({ pooler, shown }: PoolerSetup): readonly PoolerFinding[] {
  const { holdOnLossMs, name: subject } = pooler;
  if (holdOnLossMs === null) return [];
  const leastS = (holdOnLossMs + holdMarginMs) / 1_000;
  return (["query_wait_timeout", "query_timeout"] as const).flatMap((setting): readonly PoolerFinding[] => {
    const limitS = seconds(shown.settings.get(setting));
    if (limitS === null || limitS === 0 || limitS >= leastS) return [];
    return [
      {
        kind: "wait_timeout",
        level: "warning",
        subject,
        text: `${setting} must be at least ${leastS} (s) or 0, 5 s above hold_on_loss, got ${limitS}: PgBouncer ends clients that are held`,
        hint: `Set ${setting} = ${leastS}, or shorten hold_on_loss.`,
      },
    ];
  });
}

function settingFindings({ pooler, shown, deadlineMs }: PoolerSetup): readonly PoolerFinding[] {
  const subject = pooler.name;
  const loginRetry = seconds(shown.settings.get("server_login_retry"));
  const waitTimeout = seconds(shown.settings.get("query_wait_timeout"));
  const findings: PoolerFinding[] = [];
  if (loginRetry !== null && loginRetry > loginRetryMaxS)
    findings.push({
      kind: "login_retry",
      level: "warning",
      subject,
      text: `server_login_retry must be at most ${loginRetryMaxS} (s), got ${loginRetry}: after one failed login to a server, clients wait so long`,
      hint: "Set server_login_retry = 1.",
    });
  if (waitTimeout !== null && waitTimeout > 0 && waitTimeout * 1000 < deadlineMs)
    findings.push({
      kind: "wait_timeout",
      level: "warning",
      subject,
      text: `query_wait_timeout must be at least ${deadlineMs / 1000} (s) or 0, got ${waitTimeout}: PgBouncer ends clients that wait longer`,
      hint: "Set query_wait_timeout = 120, the default.",
    });
  return findings;
}

function seconds(text: string | null | undefined): number | null {
  return typeof text === "string" && /^\d{1,10}(\.\d{1,6})?$/.test(text) ? Number(text) : null;
}
