import { parseHostPort } from "../values/address.ts";
import { describeFound } from "../model/issue.ts";
import { didYouMean } from "./did-you-mean.ts";
import { type ConfigProblem, namedProblem } from "../model/problem.ts";
import type { OverrideKey } from "./override-keys.ts";
import { renamedTo } from "./renamed-keys.ts";

/** A value that a flag or an environment variable puts in the place of the file's. */
export interface Override<Value = unknown> {
  readonly value: Value;
  /** The flag or variable, for people. */
  readonly name: string;
}

/** What the environment says, or what flags say. */
export interface Overrides {
  readonly settings: readonly (Override & { readonly path: readonly string[] })[];
  /** Listeners of the node dialect in place of the file's; `null` where nothing was said, as below. */
  readonly listen: Override<readonly ListenOverride[]> | null;
  /** Seeds of the one cluster to watch in place of the file's clusters. */
  readonly discover: Override<readonly string[]> | null;
  /** The name and scope of that cluster. */
  readonly cluster: Override<string> | null;
  readonly problems: readonly ConfigProblem[];
}

/** Where to listen, in the words of the file. */
export interface ListenOverride {
  readonly address: string;
  readonly port: number;
}

/** Turns the text of a flag or variable into what the file would say. What it cannot turn stays a text, for the schema to refuse. */
export function readSetting(text: string, { kind, nullable }: OverrideKey): unknown {
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

/** Splits `a,b`; the empty text is the empty list. */
export function splitList(text: string): readonly string[] {
  return text.trim() === "" ? [] : text.split(",").map((part) => part.trim());
}

/** Reads `host:port` texts, said under `name`. What cannot be read is a problem added to `problems`, and left out. */
export function readListen(
  texts: readonly string[],
  { name, problems }: { name: string; problems: ConfigProblem[] },
): Override<readonly ListenOverride[]> {
  const allowed = "host:port, such as 127.0.0.1:8008 or [::1]:8008, several with commas between";
  const value: ListenOverride[] = [];
  for (const text of texts.length === 0 ? [""] : texts) {
    const address = parseHostPort(text);
    if (address === undefined)
      problems.push(namedProblem(name, { found: describeFound(text), allowed, message: null }));
    else value.push({ address: address.host, port: address.port });
  }
  return { value, name };
}

/** The problem with a name that is none of `known`. `where` is the flag or variable as people know it. */
export function unknownName(where: string, { name, known }: { name: string; known: readonly string[] }): ConfigProblem {
  const allowed = `one of ${known.join(", ")}`;
  const renamed = renamedTo(name, known);
  if (renamed !== null)
    return namedProblem(where, { found: describeFound(name), allowed, message: `was renamed: use ${renamed}` });
  const near = didYouMean(name, known);
  const message = near === null ? `is not known: it must be ${allowed}` : `is not known: did you mean ${near}?`;
  return namedProblem(where, { found: describeFound(name), allowed, message });
}
