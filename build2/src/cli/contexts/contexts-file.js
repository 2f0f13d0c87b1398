import { statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { describeFound, isMapping, valueIssue } from "../../config/model/issue.js";
import { fileProblem } from "../../config/model/problem.js";
import { contextsFileVariable } from "../../config/sources/client-variables.js";
import { didYouMean } from "../../config/sources/did-you-mean.js";
import { shapeIssues } from "../../config/sources/shape-issues.js";
import { readYamlFile } from "../../config/sources/yaml-file.js";
import { contextIssues, inlineSecretIssue } from "./context-checks.js";
import { contextKeysAt, contextsSchema } from "./context-schema.js";
/**
 * The name of the contexts file: `ROLECALL_CONTEXTS_FILE`, else `rolecall/contexts.yaml` in `XDG_CONFIG_HOME`, which is
 * `~/.config` by default (XDG Base Directory Specification: a relative value is ignored).
 * @returns `null` without a home folder
 */
export function contextsFile(env) {
    const named = env[contextsFileVariable] ?? "";
    if (named !== "")
        return resolve(named);
    const configHome = env["XDG_CONFIG_HOME"] ?? "";
    if (configHome.startsWith("/"))
        return join(configHome, "rolecall", "contexts.yaml");
    const home = env["HOME"] ?? "";
    return home === "" ? null : join(home, ".config", "rolecall", "contexts.yaml");
}
/** Reads and checks the contexts: all of them, or every problem at once. A missing file has none. Never throws. */
export function loadContexts(env) {
    const file = contextsFile(env);
    if (file === null || !isPresent(file))
        return { ok: true, contexts: { file: file ?? "contexts.yaml", exists: false, current: null, contexts: [] } };
    const yaml = readYamlFile(file);
    const place = (issue) => fileProblem(issue, { file, line: yaml.lineOf(issue.path) });
    if (yaml.problems.length > 0)
        return { ok: false, file, problems: yaml.problems };
    const value = yaml.value ?? {};
    const read = contextsSchema.safeParse(value);
    const issues = [
        ...(read.success ? [] : shapeIssues(read.error, value, contextKeysAt).map(inlineSecretIssue)),
        ...currentIssues(value),
        ...contextIssues(value),
    ];
    if (!read.success || issues.length > 0) {
        const problems = issues.slice(0, 1_000).map(place);
        return { ok: false, file, problems: problems.toSorted((left, right) => (left.line ?? 0) - (right.line ?? 0)) };
    }
    const { current, contexts } = read.data;
    const absolute = absoluteIn(dirname(file), env["HOME"] ?? "");
    return {
        ok: true,
        contexts: {
            file,
            exists: true,
            current,
            contexts: Object.entries(contexts ?? {}).map(([name, context]) => resolved(name, context, absolute)),
        },
    };
}
function isPresent(file) {
    try {
        statSync(file);
        return true;
    }
    catch (error) {
        // Any other error is reported when the file is read.
        return !(error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR"));
    }
}
/** `current` must be a context of the file. */
function currentIssues(value) {
    const current = isMapping(value) ? value["current"] : undefined;
    if (typeof current !== "string")
        return [];
    const contexts = isMapping(value) && isMapping(value["contexts"]) ? Object.keys(value["contexts"]) : [];
    if (contexts.includes(current))
        return [];
    return [unknownContext(["current"], current, contexts)];
}
/** The issue of a name that no context has. */
export function unknownContext(path, name, known) {
    const near = didYouMean(name, known);
    const allowed = known.length === 0 ? "a context of the file, which has none" : `one of ${known.join(", ")}`;
    const hint = near === null ? `it must be ${allowed}` : `did you mean ${near}?`;
    return { ...valueIssue(path, name, allowed), message: `${describeFound(name)} is not a known context: ${hint}` };
}
/** Makes file names absolute: `~/` is the home folder, others are relative to the folder of the contexts file. */
function absoluteIn(folder, home) {
    return (name) => (name.startsWith("~/") && home !== "" ? join(home, name.slice(2)) : resolve(folder, name));
}
function resolved(name, context, absolute) {
    const { timeout, ...rest } = context;
    const files = ["token_file", "user_file", "password_file", "ca", "cert", "key"].flatMap((key) => {
        const value = context[key];
        return value === undefined ? [] : [[key, absolute(value)]];
    });
    return { ...rest, ...Object.fromEntries(files), name, ...(timeout === undefined ? {} : { timeout: `${timeout}ms` }) };
}
//# sourceMappingURL=contexts-file.js.map