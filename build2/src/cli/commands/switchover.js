import { parseClusterDocument } from "../../cluster/documents/cluster-document.js";
import { CommandError } from "../framework/command-error.js";
import { confirm } from "../framework/confirm.js";
import { clusterPath, timestampPattern, callManagementApi, managementTimeout } from "../client/management-call.js";
import { RolecallClient } from "../client/rolecall-client.js";
/** `rolecall switchover`: switches over now or at a time, or cancels a scheduled switchover. */
export async function switchover(context) {
    const { args } = context;
    const server = new RolecallClient(context, "node", managementTimeout);
    const path = clusterPath(context, "switchover");
    if (args.has("cancel")) {
        await confirm(context, "This cancels the scheduled switchover");
        return callManagementApi(context, server, { method: "DELETE", path, purpose: "cancel the scheduled switchover" });
    }
    const at = scheduledTime(context);
    const leader = args.text("leader") ?? (await currentLeader(context, server));
    const candidate = args.text("candidate");
    const roles = `from ${leader} to ${candidate ?? "the node that the cluster elects"}${at === null ? " now" : ` at ${at}`}`;
    await confirm(context, `This switches over ${roles}`);
    const body = { leader, ...(candidate === null ? {} : { candidate }), ...(at === null ? {} : { scheduled_at: at }) };
    return callManagementApi(context, server, { method: "POST", path, body, purpose: `switch over ${roles}` });
}
/** `rolecall failover --candidate NODE`: makes a candidate the leader, even without the current leader. */
export async function failover(context) {
    const candidate = context.args.text("candidate");
    if (candidate === null)
        throw new CommandError("RC001", "--candidate must be a node, got nothing");
    const server = new RolecallClient(context, "node", managementTimeout);
    await confirm(context, `This makes ${candidate} the leader without the consent of the current one; ` +
        "writes that it has not received are lost");
    return callManagementApi(context, server, {
        method: "POST",
        path: clusterPath(context, "failover"),
        body: { candidate },
        purpose: `make ${candidate} the leader without the consent of the current one`,
    });
}
/** Returns the time of `--at`, or `null` if it was not given. @throws CommandError (RC001) if it has no time zone */
export function scheduledTime({ args }) {
    const at = args.text("at");
    if (at !== null && (!timestampPattern.test(at) || Number.isNaN(Date.parse(at)))) {
        throw new CommandError("RC001", `--at must be a time with a time zone, such as 2026-01-31T03:00:00Z, got ${JSON.stringify(at)}`);
    }
    return at;
}
/** The leader in the cluster document. The call must name it, so that no other node is switched over by mistake. */
async function currentLeader(context, server) {
    const document = parseClusterDocument(await server.getObject(clusterPath(context, "cluster")));
    if (document === undefined || document.leader === null)
        throw new CommandError("RC007", "Cannot find the leader: the cluster document names none; pass --leader, or use rolecall failover");
    return document.leader;
}
//# sourceMappingURL=switchover.js.map