/**
 * Adds a finding for one problem of a configuration, with its file, line and path.
 * @param incomplete whether the problem keeps the command from its work
 */
export function diagnoseProblem(result, problem, incomplete) {
    result.diagnose("RC020", { ...findingOf(problem), incomplete });
}
/** Adds a finding for one problem of the contexts file, which keeps the command from its work. */
export function diagnoseContextsProblem(result, problem) {
    result.diagnose("RC014", { ...findingOf(problem), incomplete: true });
}
function findingOf({ file, line, path, where, message }) {
    const subject = file === null ? where : path;
    const text = subject === "" ? message : `${subject}: ${message}`;
    if (file === null)
        return { message: text };
    const location = { file, pointer: pointerOf(path), kind: "source", ...(line === null ? {} : { line }) };
    return { message: text, location };
}
/** Converts `clusters[0].name` to a JSON pointer, `/clusters/0/name`. */
function pointerOf(path) {
    return path === "" ? "" : `/${path.replaceAll(/\[(\d+)\]/g, ".$1").replaceAll(".", "/")}`;
}
//# sourceMappingURL=config-problem.js.map