import { refuseUnopened } from "../../core/health/calls/refusal.ts";
import type { FeatureCall } from "../../core/http/admin-api/admin-api.ts";
import { readBudgetedBody } from "../../core/http/message/budgeted-body.ts";
import { errorReply, jsonReply, methodNotAllowed, refusalReply, type Reply } from "../../core/http/message/reply.ts";
import { readStanding, type SaidLease } from "./claims/standing-leases.ts";
import type { RunningSwitchovers } from "./open-switchover.ts";
import type { PauseAnswer } from "./peers/pause-answer.ts";

/** The longest body, in bytes: longer than the names of the most databases. */
const bodyMax = 2 * 1024 * 1024;

/**
 * Answers the calls of another rolecall about what its runs have paused: `POST /pauses`, `POST /pauses/{run}/heartbeat`
 * and `DELETE /pauses/{run}`. The listener needs `pause_tokens` or `management: on`, and the caller one of its
 * credentials.
 */
export async function answerPauses(running: RunningSwitchovers | null, about: FeatureCall): Promise<Reply> {
  const { call, only } = about;
  const { message, caller, request } = call;
  const match = /^(?:([\w.:-]{1,128})(\/heartbeat)?)?$/.exec(about.path);
  if (match === null) return about.noSuchPath();
  const [, run = null, heartbeat] = match;
  const isEnd = run !== null && heartbeat === undefined;
  const method = isEnd ? "DELETE" : "POST";
  if (request.method !== method) return methodNotAllowed(request.method, method);
  const refusal = refusalOf(about);
  if (refusal !== null) return refusal;
  if (running === null) return refusalReply(refuseUnopened("take calls about pauses"));
  const { keeper, bodies } = running;
  if (isEnd) return replyOf(keeper.end(run, only));
  const who = caller.principal ?? caller.address;
  const read = await readBudgetedBody(message, bodyMax, { budget: bodies, who });
  if (!read.ok) return read.reply;
  if (run !== null) return replyOf(keeper.beat(run, read.body, only));
  const from = `${who} (${caller.address})`;
  return replyOf(await keeper.announce(read.body, { from, only }, () => message.socket.destroyed));
}

/**
 * Answers the calls of another rolecall about which run of a cluster may go on: `GET` and `POST /claims`, and
 * `DELETE /claims/{run}`. Permitted as those of {@link answerPauses}.
 */
export async function answerClaims(running: RunningSwitchovers | null, about: FeatureCall): Promise<Reply> {
  const { call, only } = about;
  const { message, caller, request } = call;
  const match = /^(?:[\w.:-]{1,128})?$/.exec(about.path);
  if (match === null) return about.noSuchPath();
  const [run] = match;
  const allowed = run === "" ? ["GET", "POST"] : ["DELETE"];
  if (!allowed.includes(request.method)) return methodNotAllowed(request.method, allowed.join(", "));
  const refusal = refusalOf(about);
  if (refusal !== null) return refusal;
  if (running === null) return refusalReply(refuseUnopened("take calls about pauses"));
  const { claims, instance, bodies } = running;
  if (request.method === "GET") return jsonReply(ok, JSON.stringify({ instance }));
  if (run !== "") {
    await claims.give(run, only);
    return jsonReply(ok, JSON.stringify({ state: "released" }));
  }
  const who = caller.principal ?? caller.address;
  const read = await readBudgetedBody(message, bodyMax, { budget: bodies, who });
  if (!read.ok) return read.reply;
  const standing = readStanding(read.body);
  if (standing !== null) return answerStanding(running, standing, only);
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

/** Answers another rolecall that holds the clients of a cluster after a loss, or would. */
function answerStanding({ leases }: RunningSwitchovers, said: SaidLease, only: string | null): Reply {
  if (only !== null && said.cluster !== only)
    return errorReply(400, "bad_request", {
      message: `Cannot read this claim: this listener does not answer for ${said.cluster}`,
    });
  const answer = leases.answer(said);
  if (answer.kind !== "held") return jsonReply(ok, JSON.stringify({ granted: true }));
  const { holder } = answer;
  const { instance, by, leftMs } = holder;
  const message = `${by} holds the clients of ${said.cluster} after a loss`;
  const shown = { instance, by, left_ms: Math.round(leftMs) };
  return jsonReply({ code: 409, phrase: "claimed" }, JSON.stringify({ error: "claimed", message, holder: shown }));
}

const ok = { code: 200, phrase: "OK" };

function refusalOf({ call: { caller }, access }: FeatureCall): Reply | null {
  if (!access.management && access.pauseTokens.length === 0)
    return forbidden("pauses_off", "this listener must have pause_tokens, or management: on");
  if (caller.principal === null)
    return forbidden("unauthenticated", "the caller must be authenticated, got no credential");
  return null;
}

function forbidden(error: string, why: string): Reply {
  return errorReply(403, error, { message: `Cannot take calls about pauses: ${why}` });
}

function replyOf(answer: PauseAnswer): Reply {
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
