import { didYouMean } from "../../config/sources/did-you-mean.js";
/** Returns what a user may have meant: the first candidate that begins so, else the most similar one, or `null`. */
export function suggest(text, candidates) {
    const bare = text.replace(/^-+/, "");
    const longer = bare.length < 2 ? undefined : candidates.find((candidate) => candidate.startsWith(text));
    return longer ?? didYouMean(text, candidates);
}
//# sourceMappingURL=suggest.js.map