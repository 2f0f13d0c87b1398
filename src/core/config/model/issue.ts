/** The path of a value in the configuration: `["clusters", 0, "name"]`. */
export type ConfigPath = readonly (string | number)[];

/** An error in the content of the configuration, not yet located at a line, flag or variable. */
export interface ConfigIssue {
  readonly path: ConfigPath;
  /** The value found, as {@link describeFound} describes it. */
  readonly found: string;
  /** What is allowed. Continues "must be". */
  readonly allowed: string;
  /** A message in place of "must be {allowed}, got {found}", or `null`. */
  readonly message: string | null;
  /** Whether the key itself is wrong, not its value. */
  readonly isKey: boolean;
}

/** Returns an issue for a value that is not allowed. */
export function valueIssue(path: ConfigPath, found: unknown, allowed: string): ConfigIssue {
  return { path, found: describeFound(found), allowed, message: null, isKey: false };
}

/** Returns an issue for a mapping or list that lacks something. */
export function lackIssue(path: ConfigPath, allowed: string, found: string): ConfigIssue {
  return { path, found, allowed, message: `must have ${allowed}, got ${found}`, isKey: false };
}

/** Formats a path as `clusters[0].nodes[1].api`; the root as an empty string. Unusual keys are quoted and shortened. */
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

/** Describes a value so that it is safe in a log: bounded, on one line, without user and password of a URL. */
export function describeFound(value: unknown): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (Array.isArray(value)) return value.length === 0 ? "an empty list" : `a list of ${value.length}`;
  if (typeof value === "object") return "a mapping";
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  if (typeof value !== "string") return `a ${typeof value}`;
  const masked = value.slice(0, 1000).replaceAll(/\/\/\S*@/g, "//***@");
  return JSON.stringify(masked.length > lengthMax ? `${masked.slice(0, lengthMax)}…` : masked);
}
