/** The way to a value in the configuration: `["clusters", 0, "name"]`. */
export type ConfigPath = readonly (string | number)[];

/** Something wrong with the configuration's content, before it is known which line, flag or variable said it. */
export interface ConfigIssue {
  readonly path: ConfigPath;
  /** The value found, for people, as {@link describeFound} puts it. */
  readonly found: string;
  /** What may stand there. Reads on after "must be". */
  readonly allowed: string;
  /** The whole sentence where "must be … : it is …" would not fit, or `null`. */
  readonly message: string | null;
  /** Whether the key itself is wrong, and not its value. */
  readonly isKey: boolean;
}

/** An issue with the value at `path`: it is `found`, and must be `allowed`. */
export function valueIssue(path: ConfigPath, found: unknown, allowed: string): ConfigIssue {
  return { path, found: describeFound(found), allowed, message: null, isKey: false };
}

/** Writes a path as people do: `clusters[0].nodes[1].api`. The top of the file is the empty text; an odd key stands in quotes, shortened. */
export function formatPath(path: ConfigPath): string {
  let text = "";
  for (const step of path) {
    if (typeof step === "number") text += `[${step}]`;
    else if (!/^[\w-]{1,64}$/.test(step)) text += `[${JSON.stringify(step.slice(0, 64))}]`;
    else text += text === "" ? step : `.${step}`;
  }
  return text;
}

const lengthMax = 80;

/** Puts a value found into a few words that are safe in a log: bounded, on one line, without user and password. */
export function describeFound(value: unknown): string {
  if (value === undefined) return "not there";
  if (value === null) return "null";
  if (Array.isArray(value)) return value.length === 0 ? "an empty list" : `a list of ${value.length}`;
  if (typeof value === "object") return "a mapping";
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  if (typeof value !== "string") return `a ${typeof value}`;
  const masked = value.slice(0, 1000).replaceAll(/\/\/\S*@/g, "//***@");
  return JSON.stringify(masked.length > lengthMax ? `${masked.slice(0, lengthMax)}…` : masked);
}

/** Whether a value is a mapping: neither a list nor `null`. */
export function isMapping(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
