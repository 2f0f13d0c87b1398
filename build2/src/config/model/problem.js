import { formatPath } from "./issue.js";
const shownMax = 100;
// eslint-disable-next-line no-control-regex -- a file could write log lines or terminal sequences in our name
const controlCharacters = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g;
/** Formats problems for stderr: one line each, without a final line break. Shows at most 100 and counts the rest. */
export function renderProblems(problems) {
    const lines = problems
        .slice(0, shownMax)
        .map(({ where, message }) => `${where}: ${message}`.replaceAll(controlCharacters, "?"));
    const more = problems.length - lines.length;
    return more > 0 ? [...lines, `and ${more} more problems`].join("\n") : lines.join("\n");
}
/** Returns the problem for an issue in a file. */
export function fileProblem(issue, { file, line }) {
    const path = formatPath(issue.path);
    const place = file === null ? "" : line === null ? file : `${file}:${line}`;
    const where = [place, path].filter((part) => part !== "").join(" ");
    return { where: where === "" ? "configuration" : where, file, line, path, ...describe(issue) };
}
/** Returns the problem with the value of a flag or an environment variable called `name`. */
export function namedProblem(name, issue) {
    return { where: name, file: null, line: null, path: name, ...describe(issue) };
}
function describe({ found, allowed, message, }) {
    return { found, allowed, message: message ?? `must be ${allowed}, got ${found}` };
}
//# sourceMappingURL=problem.js.map