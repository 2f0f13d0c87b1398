import { routePaths } from "../../health/route.js";
import { commonOptions } from "../framework/options.js";
/** Every option of a command. */
export function optionsOf(spec) {
    return [...spec.options, ...commonOptions];
}
/** What to propose for the value of an option. */
export function valueCandidates({ value, choices, completes }) {
    if (choices !== undefined)
        return { kind: "words", words: choices };
    if (completes !== undefined)
        return candidatesOf(completes);
    return value?.startsWith("FILE") === true ? { kind: "file" } : { kind: "nothing" };
}
/** What to propose for the first positional argument of a command, and for those after it. */
export function positionalCandidates({ positionals }) {
    const { choices, completes, most = 0 } = positionals ?? {};
    const others = completes === undefined ? { kind: "nothing" } : candidatesOf(completes);
    return {
        first: choices === undefined ? others : { kind: "words", words: choices },
        rest: most > 1 ? others : { kind: "nothing" },
    };
}
function candidatesOf(completes) {
    if (typeof completes !== "string")
        return { kind: "words", words: completes };
    if (completes === "file")
        return { kind: "file" };
    return completes === "check" ? { kind: "words", words: routePaths() } : { kind: "names", of: completes };
}
/** Quotes text for POSIX shells, zsh and fish. */
export function quoted(text) {
    return `'${text.replaceAll("'", `'"'"'`)}'`;
}
//# sourceMappingURL=candidates.js.map