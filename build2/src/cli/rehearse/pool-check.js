import { targetName } from "./database/connection-target.js";
import { SqlError, settleSsl, withSession } from "./database/database-session.js";
import { leftoverSchemas, removalSql } from "./database/rehearsal-schema.js";
import { rehearsalRefusal } from "./rehearsal-refusal.js";
import { askPoolServer, causeOf } from "./run/pool-writer.js";
/** How long a server may take to answer one question of the checks, in ms. */
const questionTimeoutMs = 5_000;
/** The most leftover schemas that are listed. */
const leftoversMax = 10;
/**
 * Checks that the pool leads to the primary of this cluster, that the user may make a schema there, and that the
 * databases of `--node-dsn` can be queried.
 * @throws CommandError (RC140) with the reason
 */
export async function checkPool(context, options, { cluster, leader }) {
    const { signal } = context;
    const name = targetName(options.pool);
    const [target, server] = await reachable(`the pool ${name} cannot be used`, options.pool, signal);
    if (server.isInRecovery)
        throw rehearsalRefusal(`the pool ${name} leads to ${server.address}, which is in recovery: writes would go to a replica`, "Pass the DSN of the pool for writes.");
    await requireSameSystem(target, signal, { cluster, leader });
    await requirePrivilege(target, signal);
    await warnOfLeftovers(context, target);
    const nodeTargets = new Map();
    for (const [node, given] of options.nodeTargets) {
        const [settled] = await reachable(`the database of ${node} cannot be queried`, given, signal);
        nodeTargets.set(node, settled);
    }
    return { target, server, nodeTargets };
}
/** Connects to a server, and finds out which one it is. @throws CommandError (RC140) with `problem` and the cause */
async function reachable(problem, given, signal) {
    try {
        const target = await settleSsl(given, { timeoutMs: questionTimeoutMs, signals: [signal] });
        return [target, await askPoolServer(target, questionTimeoutMs, signal)];
    }
    catch (error) {
        if (!(error instanceof SqlError))
            throw error;
        throw rehearsalRefusal(`${problem}: ${causeOf(error)}`, actionFor(error));
    }
}
/** The answer to one question, or `null` if the server does not answer it, such as for lack of a privilege. */
async function answerTo(target, sql, signal) {
    const limits = { timeoutMs: questionTimeoutMs, signals: [signal] };
    const rows = await withSession(target, limits, (session) => session.query(sql, limits)).catch(() => []);
    return rows[0]?.["answer"] ?? null;
}
async function requirePrivilege(target, signal) {
    const sql = "SELECT has_database_privilege(current_database(), 'CREATE')::text AS answer";
    if ((await answerTo(target, sql, signal)) === "true")
        return;
    throw rehearsalRefusal(`${target.user} may not make a schema in ${target.database}`, `Run GRANT CREATE ON DATABASE "${target.database}" TO "${target.user}", or use another database.`);
}
/** The pool must not lead to another cluster: the rehearsal would measure nothing, and write there. */
async function requireSameSystem(target, signal, { cluster, leader }) {
    const sql = "SELECT system_identifier::text AS answer FROM pg_control_system()";
    const expected = cluster.nodes.find(({ node }) => node === leader)?.system ?? null;
    const found = await answerTo(target, sql, signal);
    if (found !== null && expected !== null && found !== expected)
        throw rehearsalRefusal(`the pool ${targetName(target)} leads to another cluster (system identifier ${found}, ${leader} has ${expected})`, "Pass the DSN of the pool in front of this cluster.");
}
async function warnOfLeftovers({ result, signal }, target) {
    const limits = { timeoutMs: questionTimeoutMs, signals: [signal] };
    const schemas = await leftoverSchemas(target, limits).catch(() => []);
    for (const schema of schemas.slice(0, leftoversMax))
        result.diagnose("RC145", { message: `${schema} exists in ${targetName(target)}: ${removalSql(schema)}` });
}
function actionFor({ sqlState, message }) {
    if (sqlState === "28P01" || sqlState === "28000" || /password/.test(message))
        return "Check the user, --dsn-password-file or the file of PGPASSFILE, and pg_hba.conf.";
    return sqlState === null ? "Check the host and port of the DSN, and the servers of the pool." : null;
}
//# sourceMappingURL=pool-check.js.map