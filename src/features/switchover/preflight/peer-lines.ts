import type { ClaimAnswer, NoAnswer } from "../../../core/cluster/run-claim.ts";
import { errorLine, okLine, type PreflightLine, warningLine } from "./preflight-line.ts";

/** A peer, and what it answers to a claim. */
export interface AskedPeer {
  readonly name: string;
  readonly answer: ClaimAnswer | NoAnswer;
}

/** Whether a peer lets a run begin, and asks this rolecall before a run of its own. */
export function peerLine({ name, answer }: AskedPeer): PreflightLine {
  const subject = `peer ${name}`;
  if (answer.kind === "silent")
    return errorLine(
      subject,
      `must say whether another switchover goes on there, got no answer: ${answer.why}`,
      "Check that it runs, its url and token, and that its version is that of this rolecall.",
    );
  if (answer.kind === "denied" && !answer.isBehind)
    return errorLine(subject, `must allow a switchover, got: ${answer.why}`, "Wait until that has ended.");
  if (answer.kind === "granted" && answer.isMutual === false)
    return errorLine(
      subject,
      "must have this rolecall among its peers, got none: it would not ask before a switchover of its own",
      "Add this rolecall to peers in its configuration.",
    );
  if (answer.kind === "granted" && answer.isMutual === null)
    return warningLine(
      subject,
      "allows a switchover; whether it has this rolecall among its peers is not known, because one of them does not answer it",
      "Check its peers: each has to reach the others.",
    );
  return okLine(subject, "allows a switchover, and asks this rolecall before one of its own");
}

/** What an unguarded run does without. */
export function noPeerLine(): PreflightLine {
  return warningLine(
    "peers",
    "are not asked: nothing excludes a second rolecall that begins a switchover at the same time, but the list of clients of each PgBouncer",
    "Configure peers, each with the others among its own.",
  );
}
