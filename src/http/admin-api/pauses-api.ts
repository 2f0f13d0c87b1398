import type { PauseAnswer } from "../../cluster/announced-pauses.ts";
import type { ClaimAnswer } from "../../cluster/run-claim.ts";
import type { ListenerAccess } from "../../config/model/listener-access-config.ts";
import type { IncomingCall } from "../message/incoming-call.ts";
import type { BodyBudget } from "../message/body-budget.ts";
import { readBudgetedBody } from "../message/budgeted-body.ts";
import { errorReply, jsonReply, methodNotAllowed, type Reply } from "../message/reply.ts";
import type { PausePath } from "./pause-paths.ts";

/** What the calls of other rolecalls about their pauses need. */
export interface PausesApiContext {
  readonly access: Pick<ListenerAccess, "management" | "pauseTokens">;
  /** Who resumes what they no longer can resume. Bodies are unchecked; `only`: the one cluster that is answered for. */
  readonly keeper: {
    announce(
      body: unknown,
      caller: { readonly from: string; readonly only: string | null },
      hasLeft: () => boolean,
    ): Promise<PauseAnswer>;
    beat(run: string, body: unknown, only: string | null): PauseAnswer;
    end(run: string, only: string | null): PauseAnswer;
  };
  /** Which run of a cluster may go on. A text says what is wrong with the body. */
  readonly claims: {
    answer(
      body: unknown,
      caller: { readonly from: string; readonly only: string | null },
    ): Promise<ClaimAnswer | string>;
    give(run: string, only: string | null): Promise<void>;
  };
  /** What bodies that are being received may take in memory. */
  readonly bodies: Pick<BodyBudget, "reserve">;
  /** This process, as other rolecalls know it. */
  readonly instance: string;
  /** The listener's cluster; `null`: all. */
  readonly only: string | null;
}

/** The longest body, in bytes: longer than the names of the most databases. */
const bodyMax = 2 * 1024 * 1024;

/**
 * Answers the calls of other rolecalls about their runs: `GET` and `POST /claims`, `DELETE /claims/{run}`,
 * `POST /pauses/{run}/heartbeat` and `DELETE /pauses/{run}`. The listener needs
 * `pause_tokens` or `management: on`, and the caller one of its credentials.
 */
export async function answerPause(call: IncomingCall, path: PausePath, context: PausesApiContext): Promise<Reply> {
  const { request, message, caller } = call;
  const { run, isHeartbeat } = path;
  const { keeper, only, bodies } = context;
  const isIdentity = path.kind === "claims" && run === null && request.method === "GET";
  const method = run === null || isHeartbeat ? "POST" : "DELETE";
  if (request.method !== method && !isIdentity)
    return methodNotAllowed(request.method, path.kind === "claims" && run === null ? "GET, POST" : method);
  const { principal } = caller;
  if (!context.access.management && context.access.pauseTokens.length === 0)
    return forbidden("pauses_off", "this listener must have pause_tokens, or management: on");
  if (principal === null) return forbidden("unauthenticated", "the caller must be authenticated, got no credential");
  if (path.kind === "claims") return answerClaim(call, run, context);
  if (run !== null && !isHeartbeat) return replyOf(keeper.end(run, only));
  const read = await readBudgetedBody(message, bodyMax, { budget: bodies, who: principal });
  if (!read.ok) return read.reply;
  if (run !== null) return replyOf(keeper.beat(run, read.body, only));
  const from = `${principal} (${caller.address})`;
  return replyOf(await keeper.announce(read.body, { from, only }, () => message.socket.destroyed));
}

/** Whether a run of the caller may begin; or who this process is; or that a run of the caller is over. */
async function answerClaim(
  { request, message, caller }: IncomingCall,
  run: string | null,
  { claims, only, instance, bodies }: PausesApiContext,
): Promise<Reply> {
  const ok = { code: 200, phrase: "OK" };
  if (request.method === "GET") return jsonReply(ok, JSON.stringify({ instance }));
  if (run !== null) {
    await claims.give(run, only);
    return jsonReply(ok, JSON.stringify({ state: "released" }));
  }
  const who = caller.principal ?? caller.address;
  const read = await readBudgetedBody(message, bodyMax, { budget: bodies, who });
  if (!read.ok) return read.reply;
  const answer = await claims.answer(read.body, { from: caller.address, only });
  if (typeof answer === "string")
    return errorReply(400, "bad_request", { message: `Cannot read this claim: ${answer}` });
  if (answer.kind === "granted")
    return jsonReply(
      ok,
      JSON.stringify({ granted: true, lease_ms: answer.leaseMs, mutual: answer.isMutual, instance }),
    );
  const { why, generation, isBehind: behind } = answer;
  return jsonReply(
    { code: 409, phrase: "claimed" },
    JSON.stringify({ error: "claimed", message: why, generation, behind }),
  );
}

function forbidden(error: string, why: string): Reply {
  return errorReply(403, error, { message: `Cannot take calls about pauses: ${why}` });
}

function replyOf(answer: PauseAnswer): Reply {
  const ok = { code: 200, phrase: "OK" };
  switch (answer.kind) {
    case "acknowledged":
      return jsonReply(ok, JSON.stringify({ acknowledged: true }));
    case "held":
    case "ended":
      return jsonReply(ok, JSON.stringify({ state: answer.kind }));
    case "taken_over":
      return jsonReply({ code: 410, phrase: "taken_over" }, JSON.stringify({ state: answer.kind, by: answer.by }));
    case "unknown_run":
      return errorReply(404, "no_run", { message: "Cannot find this run: it must be announced and not ended" });
    case "unreadable":
      return errorReply(400, "bad_request", { message: `Cannot read this body: ${answer.problem}` });
    case "refused":
    case "unreached":
      return errorReply(answer.kind === "refused" ? 409 : 503, answer.kind, {
        message: `Cannot answer for these pauses: ${answer.problem}`,
      });
  }
}
