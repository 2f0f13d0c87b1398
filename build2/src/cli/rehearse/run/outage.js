import { replyMessage } from "../../client/rolecall-client.js";
import { CommandError } from "../../framework/command-error.js";
import { execute } from "../../result/evidence.js";
/** How long a kill command may take, in ms. */
const killTimeoutMs = 30_000;
/** Sends the switchover to rolecall, and waits for the answer. */
export async function requestSwitchover(server, call) {
    try {
        const reply = await server.call(call);
        const isDone = reply.status >= 200 && reply.status < 300;
        const problem = isDone ? null : `${call.method} ${call.path} answered ${reply.status}: ${replyMessage(reply)}`;
        return { problem, evidence: null };
    }
    catch (error) {
        if (error instanceof CommandError)
            return { problem: error.message, evidence: null };
        throw error;
    }
}
/** Runs the command of the user that kills the leader, in a shell, with the name of the leader in ROLECALL_NODE. */
export async function runKillCommand(command, leader, signal) {
    const evidence = await execute({
        command: "/usr/bin/env",
        args: [`ROLECALL_NODE=${leader}`, "/bin/sh", "-c", command],
        timeoutMs: killTimeoutMs,
        signal,
    });
    const { exit_code: code, stderr } = evidence;
    const problem = code === 0 ? null : `the kill command ended with ${code}: ${stderr.trim().slice(0, 300)}`;
    return { problem, evidence };
}
//# sourceMappingURL=outage.js.map