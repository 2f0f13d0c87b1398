import type { NodeReply } from "../client/client.ts";
import type { ParseTime } from "../client/probe-context.ts";
import { noTimeToParse } from "./parse-budget.ts";
import { readStatusAfter, type ParsedStatusReply, type StatusResult } from "./parse-response.ts";

/** Reads the answers of one server to status probes, within the time that its cluster's answers may take to parse. */
export class StatusReader {
  readonly #parsing: ParseTime | undefined;
  /** The last answer, or `null` after a failure. */
  #last: ParsedStatusReply | null = null;
  /** What parsing the last answer took, in ms. */
  #tookMs = 0;

  constructor(parsing: ParseTime | undefined) {
    this.#parsing = parsing;
  }

  /** @returns a failure of the kind `late_here` if there is no time to parse the answer */
  read(reply: NodeReply): StatusResult {
    const parsed = this.#parse(() => readStatusAfter(reply, this.#last));
    this.#last = "failure" in parsed ? null : parsed;
    return "failure" in parsed ? parsed : parsed.result;
  }

  #parse<Result>(parse: () => Result): Result | { readonly failure: typeof noTimeToParse } {
    if (this.#parsing === undefined) return parse();
    const parsed = this.#parsing.parse(this.#tookMs, parse);
    if (parsed === null) return { failure: noTimeToParse };
    this.#tookMs = parsed.tookMs;
    return parsed.result;
  }
}
