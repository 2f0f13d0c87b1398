import { isObject } from "../../cluster/values/json.ts";
import { statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { type ConfigIssue, type ConfigPath, describeFound, valueIssue } from "../../config/model/issue.ts";
import { type ConfigProblem, fileProblem } from "../../config/model/problem.ts";
import { contextsFileVariable } from "../../config/sources/client-variables.ts";
import { didYouMean } from "../../cluster/values/did-you-mean.ts";
import { shapeIssues } from "../../config/sources/shape-issues.ts";
import { readYamlFile } from "../../config/sources/yaml-file.ts";
import { type ContextShape, contextKeysAt, contextsSchema } from "./context-schema.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** One context: a server, and the options for it. File names are absolute. */
export interface ServerContext extends Omit<ContextShape, "timeout"> {
  readonly name: string;
  /** As text, for an option: `250ms`. */
  readonly timeout?: string;
}

/** The contexts of a user. */
export interface Contexts {
  readonly file: string;
  /** Whether the file exists. */
  readonly exists: boolean;
  /** The context that the file selects, or `null`. */
  readonly current: string | null;
  readonly contexts: readonly ServerContext[];
}

export type LoadedContexts =
  | { readonly ok: true; readonly contexts: Contexts }
  | { readonly ok: false; readonly file: string; readonly problems: readonly ConfigProblem[] };

/**
 * The name of the contexts file: `ROLECALL_CONTEXTS_FILE`, else `rolecall/contexts.yaml` in `XDG_CONFIG_HOME`, which is
 * `~/.config` by default (XDG Base Directory Specification: a relative value is ignored).
 * @returns `null` without a home folder
 */
export function contextsFile(env: Environment): string | null {
  const named = env[contextsFileVariable] ?? "";
  if (named !== "") return resolve(named);
  const configHome = env["XDG_CONFIG_HOME"] ?? "";
  if (configHome.startsWith("/")) return join(configHome, "rolecall", "contexts.yaml");
  const home = env["HOME"] ?? "";
  return home === "" ? null : join(home, ".config", "rolecall", "contexts.yaml");
}

/**
 * Reads and checks the contexts file. Returns all contexts, or all problems. Without a file there are no contexts.
 * Never throws.
 */
export function loadContexts(env: Environment): LoadedContexts {
  const file = contextsFile(env);
  if (file === null || !isPresent(file))
    return { ok: true, contexts: { file: file ?? "contexts.yaml", exists: false, current: null, contexts: [] } };
  const yaml = readYamlFile(file);
  const place = (issue: ConfigIssue): ConfigProblem => fileProblem(issue, { file, line: yaml.lineOf(issue.path) });
  if (yaml.problems.length > 0) return { ok: false, file, problems: yaml.problems };
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

function isPresent(file: string): boolean {
  try {
    statSync(file);
    return true;
  } catch (error) {
    // Any other error is reported when the file is read.
    return !(error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR"));
  }
}

/** `current` must be a context of the file. */
function currentIssues(value: unknown): readonly ConfigIssue[] {
  const current = isObject(value) ? value["current"] : undefined;
  if (typeof current !== "string") return [];
  const contexts = isObject(value) && isObject(value["contexts"]) ? Object.keys(value["contexts"]) : [];
  if (contexts.includes(current)) return [];
  return [unknownContext(["current"], current, contexts)];
}

/** The issue of a name that no context has. */
export function unknownContext(path: ConfigPath, name: string, known: readonly string[]): ConfigIssue {
  const near = didYouMean(name, known);
  const allowed = known.length === 0 ? "a context of the file, which has none" : `one of ${known.join(", ")}`;
  const hint = near === null ? `it must be ${allowed}` : `did you mean ${near}?`;
  return { ...valueIssue(path, name, allowed), message: `${describeFound(name)} is not a known context: ${hint}` };
}

/** Makes file names absolute: `~/` is the home folder, others are relative to the folder of the contexts file. */
function absoluteIn(folder: string, home: string): (name: string) => string {
  return (name) => (name.startsWith("~/") && home !== "" ? join(home, name.slice(2)) : resolve(folder, name));
}

function resolved(name: string, context: ContextShape, absolute: (name: string) => string): ServerContext {
  const { timeout, ...rest } = context;
  const files = (["token_file", "user_file", "password_file", "ca", "cert", "key"] as const).flatMap((key) => {
    const value = context[key];
    return value === undefined ? [] : [[key, absolute(value)] as const];
  });
  return { ...rest, ...Object.fromEntries(files), name, ...(timeout === undefined ? {} : { timeout: `${timeout}ms` }) };
}

/** Keys that people try for a secret itself, each with the key for the file that may hold it. */
const inlineSecrets: ReadonlyMap<string, string> = new Map([
  ["token", "token_file"],
  ["password", "password_file"],
  ["secret", "token_file"],
]);

/** Says of an unknown key that holds a secret where the secret belongs. */
function inlineSecretIssue(issue: ConfigIssue): ConfigIssue {
  const instead = issue.isKey ? inlineSecrets.get(String(issue.path.at(-1))) : undefined;
  if (instead === undefined) return issue;
  return { ...issue, message: `must not be in this file: write the secret to a file of its own and set ${instead}` };
}

/** Returns the issues of keys that contradict each other or need each other, and of names that cannot be used. */
function contextIssues(value: unknown): readonly ConfigIssue[] {
  const contexts = isObject(value) && isObject(value["contexts"]) ? Object.entries(value["contexts"]) : [];
  return contexts.flatMap(([name, context]) => [
    ...nameIssues(name),
    ...(isObject(context) ? keyIssues(["contexts", name], context) : []),
  ]);
}

function nameIssues(name: string): readonly ConfigIssue[] {
  if (/^[A-Za-z0-9][\w.-]{0,63}$/.test(name)) return [];
  const allowed = "a name of letters, digits and _ . - (at most 64, the first one a letter or digit)";
  return [{ ...valueIssue(["contexts", name], name, allowed), isKey: true }];
}

function keyIssues(path: readonly string[], context: Readonly<Record<string, unknown>>): readonly ConfigIssue[] {
  const has = (key: string): boolean => context[key] !== undefined && context[key] !== null;
  const issues: ConfigIssue[] = [];
  const refuse = (key: string, message: string): void =>
    void issues.push({ ...valueIssue([...path, key], context[key], ""), message });
  const methods = ["token_file", "user_file", "user"].filter(has);
  const [first, second] = methods;
  if (second !== undefined) refuse(second, `cannot be used with ${first}: a context has one credential`);
  if (has("user") && !has("password_file")) refuse("user", "needs password_file, the file with the password");
  if (has("password_file") && !has("user")) refuse("password_file", "needs user, the name that the password is for");
  if (has("cert") && !has("key")) refuse("cert", "needs key, the file with the private key");
  if (has("key") && !has("cert")) refuse("key", "needs cert, the file with the certificate");
  const { server, tls } = context;
  if (typeof server === "string" && tls === true && /^http:/i.test(server))
    refuse("tls", "contradicts server, which is http: write https:// or leave the scheme out");
  if (typeof server === "string" && tls === false && /^https:/i.test(server))
    refuse("tls", "contradicts server, which is https");
  return issues;
}
