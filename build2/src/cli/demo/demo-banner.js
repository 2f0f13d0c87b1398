/** The width that terminals have at least. */
const columns = 80;
/** The most nodes that are listed one a line. */
const listedMax = 9;
/** Renders what a demo prints: its addresses, and things to try. Lines of commands begin with two spaces. */
export function renderDemoBanner(addresses, steps, texts) {
    return [
        "",
        texts.title,
        "",
        ...addressLines(addresses),
        ...(texts.setup === null ? [] : ["", "First, in the terminal where you try things:", `  ${texts.setup}`]),
        ...steps.flatMap(({ text, commands }) => ["", ...text, ...commands.flatMap(commandLines)]),
        "",
        ...(texts.log === null ? [] : [texts.log]),
        "Press Ctrl-C to stop.",
        "",
        "",
    ].join("\n");
}
/** A command, indented; one that is too long for a line goes on after a backslash, so that it can be pasted. */
function commandLines(command) {
    const line = `  ${command}`;
    const at = line.lastIndexOf(" --", columns - 2);
    return line.length <= columns || at <= 0 ? [line] : [`${line.slice(0, at)} \\`, `    ${line.slice(at + 1)}`];
}
function addressLines({ health, admin, control, nodes }) {
    const shown = nodes.slice(0, listedMax);
    const more = nodes.length - shown.length;
    const rows = [
        ...(health === null ? [] : [["health checks", health, ""]]),
        ...(admin === null ? [] : [["status", `${admin}/status`, "(metrics: /metrics)"]]),
        ["faults", control, "(lists every fault and its undo)"],
        ...shown.map(({ name, url }, index) => [`node ${name}`, url, index === 0 ? "(leads at the start)" : ""]),
    ];
    const urls = Math.max(...rows.map(([, url]) => url.length));
    const lines = rows.map(([label, url, purpose]) => `  ${label.padEnd(14)} ${url.padEnd(urls)} ${purpose}`.trimEnd());
    return more === 0 ? lines : [...lines, `  and ${String(more)} more nodes`];
}
//# sourceMappingURL=demo-banner.js.map