import { parseHostPort } from "../values/address.ts";
import { describeFound } from "../model/issue.ts";
import { type ConfigProblem, namedProblem } from "../model/problem.ts";
import type { OverrideKey, RemovedOverride } from "./override-keys.ts";
import { removedIssue } from "./removed-keys.ts";
import { unknownName } from "./unknown-names.ts";

/** A value of a flag or an environment variable, which replaces the one in the file. */
export interface Override<Value = unknown> {
  readonly value: Value;
  /** The flag or variable, for messages. */
  readonly name: string;
}

/** The values of all environment variables, or of all flags. */
export interface Overrides {
  readonly settings: readonly (Override & { readonly path: readonly string[] })[];
  /** Listeners of the node dialect in place of the file's, or `null`. */
  readonly listen: Override<readonly ListenOverride[]> | null;
  /** Seeds of the one cluster to probe in place of the file's clusters, or `null`. */
  readonly discover: Override<readonly string[]> | null;
  /** The certificate authority of that cluster's nodes, or `null`. */
  readonly nodeCa: Override<string> | null;
  /** The name and scope of that cluster, or `null`. */
  readonly cluster: Override<string> | null;
  /** The name of that cluster without `cluster`, or `null`. */
  readonly discoveredName: string | null;
  readonly problems: readonly ConfigProblem[];
  /** One for each removed key that is set. */
  readonly warnings: readonly ConfigProblem[];
}

/** The address and port of an entry of `listen`. */
export interface ListenOverride {
  readonly address: string;
  readonly port: number;
}

/**
 * Converts the text of a flag or variable to the value in the file. Leaves an invalid text as it is, for the schema
 * to reject.
 */
export function readOverride(text: string, { kind, nullable }: OverrideKey): unknown {
  if (nullable && (text === "" || text === "null")) return null;
  switch (kind) {
    case "number":
      return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text;
    case "boolean":
      return text === "true" ? true : text === "false" ? false : text;
    case "list":
      return splitList(text);
    case "text":
      return text;
  }
}

/**
 * What a removed key sets: the key of today that it was renamed to, or nothing.
 * @param given `name` is the flag or variable, for messages
 */
export function readRemoved(
  { row, variable, taker }: RemovedOverride,
  given: { readonly name: string; readonly text: string },
): { readonly settings: Overrides["settings"]; readonly warning: ConfigProblem } {
  const isVariable = given.name === variable;
  const renamed = taker === null ? null : isVariable ? taker.variable : taker.path.join(".");
  const warning = namedProblem(given.name, removedIssue({ ...row, renamed }, [], given.text));
  const settings =
    taker === null ? [] : [{ path: taker.path, value: readOverride(given.text, taker), name: given.name }];
  return { settings, warning };
}

/** Splits `a,b`. The empty text gives the empty list. */
export function splitList(text: string): readonly string[] {
  return text.trim() === "" ? [] : text.split(",").map((part) => part.trim());
}

/** Parses the `host:port` texts of the flag or variable `name`. Adds a problem to `problems` for each invalid one. */
export function readListen(
  texts: readonly string[],
  { name, problems }: { name: string; problems: ConfigProblem[] },
): Override<readonly ListenOverride[]> {
  const allowed = "host:port, such as 127.0.0.1:8008 or [::1]:8008, or several separated by commas";
  const value: ListenOverride[] = [];
  for (const text of texts.length === 0 ? [""] : texts) {
    const address = parseHostPort(text);
    if (address === undefined)
      problems.push(namedProblem(name, { found: describeFound(text), allowed, message: null }));
    else value.push({ address: address.host, port: address.port });
  }
  return { value, name };
}

/** Returns the problem with a name that is not one of `known`. `where` is the flag or variable, for messages. */
export function unknownOverride(
  where: string,
  { given, known }: { given: string; known: readonly string[] },
): ConfigProblem {
  return namedProblem(where, { found: describeFound(given), ...unknownName(given, known, "is not known") });
}
