import type { NodeReply } from "../client/client.ts";
import type { ParseLimit } from "../client/probe-context.ts";
import { tooMuchToParse } from "./parse-budget.ts";
import { readStatusAfter, repeats, type ParsedStatusReply, type StatusResult } from "./parse-response.ts";

/** Reads the answers of one server to status probes, within what its cluster's answers may cost to parse. */
export class StatusReader {
  readonly #parsing: ParseLimit | undefined;
  /** The last answer, or `null` after a failure. */
  #last: ParsedStatusReply | null = null;

  constructor(parsing: ParseLimit | undefined) {
    this.#parsing = parsing;
  }

  /** @returns a failure of the kind `too_large` if parsing the answer would cost too much */
  read(reply: NodeReply): StatusResult {
    const parsed = this.#parse(reply);
    this.#last = "failure" in parsed ? null : parsed;
    return "failure" in parsed ? parsed : parsed.result;
  }

  #parse(reply: NodeReply): ReturnType<typeof readStatusAfter> {
    const isFree = "failure" in reply || repeats(reply, this.#last) || this.#parsing === undefined;
    if (!isFree && !this.#parsing.allows(reply.body)) return { failure: tooMuchToParse };
    return readStatusAfter(reply, this.#last);
  }
}
