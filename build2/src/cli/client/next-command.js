import { isReason } from "../../health/reason.js";
import { reasonLink } from "../../health/reason-link.js";
import { serverOptions, sourceOptions } from "../framework/options.js";
/**
 * Writes a command line to paste into a shell. It repeats the options by which the present command reaches rolecall or
 * the nodes, such as `--server` and `--context`.
 */
export function nextCommand({ args }, suggested) {
    const own = Object.entries(suggested.options ?? {}).flatMap(([name, value]) => value === null ? [] : [`--${name}`, value]);
    const words = ["rolecall", suggested.name, ...(suggested.positionals ?? []), ...own].map(shellWord);
    return [...words, ...sourceWords(args)].join(" ");
}
/** Returns the options of a command line that say where rolecall or the nodes are, ready for a shell. */
export function sourceWords(args) {
    return [...serverOptions, ...sourceOptions].flatMap(({ name, value }) => {
        if (value === undefined)
            return args.has(name) ? [`--${name}`] : [];
        return args.list(name).map((text) => `--${name} ${shellWord(text)}`);
    });
}
/** Quotes a word for a POSIX shell, if it needs quotes. */
export function shellWord(word) {
    return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
/** `See docs/reasons.md#lagging`, for each distinct reason that this version knows; the empty text for none. */
export function seeReasons(reasons) {
    const links = [...new Set(reasons)].flatMap((reason) => reason !== null && isReason(reason) ? [reasonLink(reason)] : []);
    return links.length === 0 ? "" : `See ${links.join(", ")}`;
}
//# sourceMappingURL=next-command.js.map