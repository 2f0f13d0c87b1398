import type { StatusCluster } from "../client/cluster-status.ts";
import type { CommandContext } from "../framework/command-context.ts";
import { targetName, type ConnectionTarget } from "./database/connection-target.ts";
import { SqlError, settleSsl, withSession } from "./database/database-session.ts";
import { leftoverSchemas, removalSql } from "./database/rehearsal-schema.ts";
import type { PoolServer } from "./measure/recording.ts";
import type { RehearsalOptions } from "./options.ts";
import { rehearsalRefusal } from "./rehearsal-refusal.ts";
import { askPoolServer, causeOf } from "./run/pool-writer.ts";

/** How long a server may take to answer one question of the checks, in ms. */
const questionTimeoutMs = 5_000;
/** The most leftover schemas that are listed. */
const leftoversMax = 10;

/** A pool that leads to the primary of the cluster. */
export interface CheckedPool {
  readonly target: ConnectionTarget;
  readonly server: PoolServer;
  readonly nodeTargets: ReadonlyMap<string, ConnectionTarget>;
}

/**
 * Checks that the pool leads to the primary of this cluster, that the user may make a schema there, and that the
 * databases of `--node-dsn` can be queried.
 * @throws CommandError (RC140) with the reason
 */
export async function checkPool(
  context: CommandContext,
  options: RehearsalOptions,
  { cluster, leader }: { readonly cluster: StatusCluster; readonly leader: string },
): Promise<CheckedPool> {
  const { signal } = context;
  const name = targetName(options.pool);
  const [target, server] = await reachable(`the pool ${name} cannot be used`, options.pool, signal);
  if (server.isInRecovery)
    throw rehearsalRefusal(
      `the pool ${name} leads to ${server.address}, which is in recovery: writes would go to a replica`,
      "Pass the DSN of the pool for writes.",
    );
  await requireSameSystem(target, signal, { cluster, leader });
  await requirePrivilege(target, signal);
  await warnOfLeftovers(context, target);
  const nodeTargets = new Map<string, ConnectionTarget>();
  for (const [node, given] of options.nodeTargets) {
    const [settled] = await reachable(`the database of ${node} cannot be queried`, given, signal);
    nodeTargets.set(node, settled);
  }
  return { target, server, nodeTargets };
}

/** Connects to a server, and finds out which one it is. @throws CommandError (RC140) with `problem` and the cause */
async function reachable(
  problem: string,
  given: ConnectionTarget,
  signal: AbortSignal,
): Promise<readonly [ConnectionTarget, PoolServer]> {
  try {
    const target = await settleSsl(given, { timeoutMs: questionTimeoutMs, signals: [signal] });
    return [target, await askPoolServer(target, questionTimeoutMs, signal)];
  } catch (error) {
    if (!(error instanceof SqlError)) throw error;
    throw rehearsalRefusal(`${problem}: ${causeOf(error)}`, actionFor(error));
  }
}

/** The answer to one question, or `null` if the server does not answer it, such as for lack of a privilege. */
async function answerTo(target: ConnectionTarget, sql: string, signal: AbortSignal): Promise<string | null> {
  const limits = { timeoutMs: questionTimeoutMs, signals: [signal] };
  const rows = await withSession(target, limits, (session) => session.query(sql, limits)).catch(() => []);
  return rows[0]?.["answer"] ?? null;
}

async function requirePrivilege(target: ConnectionTarget, signal: AbortSignal): Promise<void> {
  const sql = "SELECT has_database_privilege(current_database(), 'CREATE')::text AS answer";
  if ((await answerTo(target, sql, signal)) === "true") return;
  throw rehearsalRefusal(
    `${target.user} may not make a schema in ${target.database}`,
    `Run GRANT CREATE ON DATABASE "${target.database}" TO "${target.user}", or use another database.`,
  );
}

/** The pool must not lead to another cluster: the rehearsal would measure nothing, and write there. */
async function requireSameSystem(
  target: ConnectionTarget,
  signal: AbortSignal,
  { cluster, leader }: { readonly cluster: StatusCluster; readonly leader: string },
): Promise<void> {
  const sql = "SELECT system_identifier::text AS answer FROM pg_control_system()";
  const expected = cluster.nodes.find(({ node }) => node === leader)?.system ?? null;
  const found = await answerTo(target, sql, signal);
  if (found !== null && expected !== null && found !== expected)
    throw rehearsalRefusal(
      `the pool ${targetName(target)} leads to another cluster (system identifier ${found}, ${leader} has ${expected})`,
      "Pass the DSN of the pool in front of this cluster.",
    );
}

async function warnOfLeftovers({ result, signal }: CommandContext, target: ConnectionTarget): Promise<void> {
  const limits = { timeoutMs: questionTimeoutMs, signals: [signal] };
  const schemas = await leftoverSchemas(target, limits).catch(() => []);
  for (const schema of schemas.slice(0, leftoversMax))
    result.diagnose("RC145", { message: `${schema} exists in ${targetName(target)}: ${removalSql(schema)}` });
}

function actionFor({ sqlState, message }: SqlError): string | null {
  if (sqlState === "28P01" || sqlState === "28000" || /password/.test(message))
    return "Check the user, --dsn-password-file or the file of PGPASSFILE, and pg_hba.conf.";
  return sqlState === null ? "Check the host and port of the DSN, and the servers of the pool." : null;
}
