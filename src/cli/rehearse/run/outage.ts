import type { RolecallClient, RolecallRequest } from "../../client/rolecall-client.ts";
import { replyMessage } from "../../client/rolecall-client.ts";
import { CommandError } from "../../framework/command-error.ts";
import { execute } from "../../result/evidence.ts";
import type { Evidence } from "../../result/document.ts";

/** How long a kill command may take, in ms. */
const killTimeoutMs = 30_000;

/** What came of the request for an outage. */
export interface OutageRequest {
  /** `null` if it was done; else why it was not, or may not have been. */
  readonly problem: string | null;
  /** The record of the kill command. */
  readonly evidence: Evidence | null;
}

/** Sends the switchover to rolecall, and waits for the answer. */
export async function requestSwitchover(server: RolecallClient, call: RolecallRequest): Promise<OutageRequest> {
  try {
    const reply = await server.call(call);
    const isDone = reply.status >= 200 && reply.status < 300;
    const problem = isDone ? null : `${call.method} ${call.path} answered ${reply.status}: ${replyMessage(reply)}`;
    return { problem, evidence: null };
  } catch (error) {
    if (error instanceof CommandError) return { problem: error.message, evidence: null };
    throw error;
  }
}

/** Runs the command of the user that kills the leader, in a shell, with the name of the leader in ROLECALL_NODE. */
export async function runKillCommand(command: string, leader: string, signal: AbortSignal): Promise<OutageRequest> {
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
