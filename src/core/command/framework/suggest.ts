import { didYouMean } from "../../cluster/values/did-you-mean.ts";

/** Returns what a user may have meant: the first candidate that begins so, else the most similar one, or `null`. */
export function suggest(text: string, candidates: readonly string[]): string | null {
  const bare = text.replace(/^-+/, "");
  const longer = bare.length < 2 ? undefined : candidates.find((candidate) => candidate.startsWith(text));
  return longer ?? didYouMean(text, candidates);
}
