import type { Failure } from "../../cluster/observation.ts";
import type { ParseLimit } from "../client/probe-context.ts";
import { TokenBucket } from "../client/token-bucket.ts";
import { countTokens } from "./json-size.ts";

/**
 * What parsing the answers of one cluster may cost. A token takes 0.1 to 1 microsecond: in the long run that is at most
 * 3 % of a processor core. The lists of 100 members, from each of them, fit in at once.
 */
const limits = { perSecond: 32_768, burst: 327_680 } as const;
/** An answer of a real node costs less than this: it is always parsed. */
const cheap = 512;
/** So many bytes cost as much as a token. */
const bytesOfToken = 128;

/**
 * Limits what the answers of one cluster cost to parse, so that they cost other clusters little. Costs are counted by
 * what is parsed and never by how long it takes: on a busy machine that says nothing about the node.
 */
export class ParseBudget implements ParseLimit {
  readonly #bucket: TokenBucket;

  /** @param now a clock that runs while this process does, in ms */
  constructor(now: () => number) {
    this.#bucket = new TokenBucket(limits, now);
  }

  allows(text: Buffer): boolean {
    const { members, separators } = countTokens(text);
    const cost = members + separators + text.length / bytesOfToken;
    return this.#bucket.take(cost) || cost <= cheap;
  }
}

/** Why an answer is not parsed. */
export const tooMuchToParse: Failure = {
  kind: "too_large",
  detail: `the answers of this cluster have more than ${limits.perSecond} members and values a second`,
};
