import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, posix, sep } from "node:path";
/** Reads all TypeScript files below a folder. */
export function readSources(root) {
    return readdirSync(root, { recursive: true, encoding: "utf8" })
        .filter((name) => name.endsWith(".ts"))
        .map((name) => {
        const file = name.split(sep).join(posix.sep);
        const text = readFileSync(join(root, name), "utf8");
        return { file, folder: dirname(file), top: file.split("/")[0] ?? "", text, imports: importsOf(file, text) };
    });
}
function importsOf(file, text) {
    const specifiers = [...text.matchAll(/(?:^|\n)(?:import|export)[^;]*?from\s+"([^"]+)"|\bimport\("([^"]+)"\)/g)].map((match) => match[1] ?? match[2] ?? "");
    return specifiers.filter((name) => name.startsWith(".")).map((name) => posix.join(dirname(file), name));
}
/**
 * The names that a file declares and exports. Re-exports are left out: they are the same name with the same meaning.
 */
export function exportedNames(text) {
    const declaration = /^export (?:default )?(?:abstract )?(?:async )?(?:const|let|function\*?|class|interface|type|enum) ([A-Za-z0-9_$]+)/gm;
    return [...new Set([...text.matchAll(declaration)].map(([, name = ""]) => name))];
}
/** The lines of a file without comments, and with every string emptied. */
export function codeOf(text) {
    return text
        .replace(/\/\*[^]*?\*\/|`[^`]*`/g, "")
        .split("\n")
        .map((line) => line.replace(/"(?:[^"\\]|\\.)*"/g, '""').replace(/\/\/.*$/, ""));
}
/** The cycles of a directed graph, each as a path that ends where it begins. */
export function cyclesOf(nodes, edges) {
    const done = new Set();
    const cycles = [];
    const walk = (node, path) => {
        if (path.includes(node))
            cycles.push([...path.slice(path.indexOf(node)), node].join(" -> "));
        if (path.includes(node) || done.has(node))
            return;
        for (const next of edges(node))
            walk(next, [...path, node]);
        done.add(node);
    };
    for (const node of nodes)
        walk(node, []);
    return cycles;
}
//# sourceMappingURL=source-files.js.map