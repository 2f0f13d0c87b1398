/** Splits command lines of the documents as a shell does, as far as the documents use a shell. */
const separators = new Set(["|", "||", "&&", ";", "&"]);
/**
 * @param line a command line; comments and redirections are dropped
 * @returns the commands of its pipelines and lists, in order
 */
export function commandsOf(line) {
    const commands = [[]];
    let skipNext = false;
    for (const token of tokensOf(line)) {
        if (token === "#" || token.startsWith("# "))
            break;
        if (skipNext)
            skipNext = false;
        else if (separators.has(token))
            commands.push([]);
        else if (/^\d?>{1,2}$|^<$/.test(token))
            skipNext = true;
        else if (!/^\d?>/.test(token))
            commands.at(-1)?.push(unquote(token));
    }
    return commands.map((words) => ({ words: withoutAssignments(words) })).filter(({ words }) => words.length > 0);
}
/** The tokens of a line, with their quotes. A comment is one token. */
function tokensOf(line) {
    return line.match(/#(?= ).*$|\|\||&&|[|;&](?=\s|$)|(?:'[^']*'|"[^"]*"|\\.|[^\s'"\\;])+|;/g) ?? [];
}
function unquote(token) {
    return token.replaceAll(/'([^']*)'|"([^"]*)"|\\(.)/g, (_, single, double, escaped) => single ?? double ?? escaped);
}
function withoutAssignments(words) {
    const first = words.findIndex((word) => !/^[A-Za-z_]+=/.test(word));
    return first === -1 ? [] : words.slice(first);
}
/** The command lines of a block, with continuation lines joined: every line of `sh`, those after `$ ` of `console`. */
export function commandLines(language, lines) {
    const joined = lines
        .join("\n")
        .replaceAll(/\\\n\s*(?:> )?/g, "")
        .split("\n");
    if (language === "console")
        return joined.filter((line) => line.startsWith("$ ")).map((line) => line.slice(2));
    return joined.filter((line) => line.trim() !== "" && !line.startsWith("#"));
}
/** The words of a command, in which `npx rolecall …` and `node dist/main.js …` are `rolecall …`. */
export function rolecallOf(words) {
    const [first, second] = words;
    if (first === "npx" && second === "rolecall")
        return words.slice(1);
    return first === "node" && second === "dist/main.js" ? ["rolecall", ...words.slice(2)] : words;
}
//# sourceMappingURL=shell-words.js.map