import { isObject, parseJson } from "./json.ts";
import { withWholeCharacters } from "./python-json.ts";

/** A tag of a node, as Patroni reads it (4.1.5: api.py, tags.py). */
export interface Tag {
  /** What a check with `tag_KEY` is compared with: a string unchanged, other values as lower-case text of Python. */
  readonly text: string;
  /** Python's truth of the value. Strings are true unless empty: `"false"` and `"0"` are. */
  readonly isTrue: boolean;
}

/** A node's tags by name. Without those whose value is `null`: for Patroni such a tag does not exist. */
export type Tags = ReadonlyMap<string, Tag>;

const noTags: Tags = new Map();
/** More tags than any node has, and longer names and texts, in characters. The rest is ignored. */
export const tagLimits = { count: 128, length: 1_024 } as const;

/**
 * Parses the `tags` of a status document. A value that is no object has no tags.
 * @param document the JSON text of the whole document, where it is known. Python writes `1.0` where JavaScript reads 1
 */
export function parseTags(value: unknown, document?: string): Tags {
  if (!isObject(value)) return noTags;
  const known = Object.entries(value)
    .filter(([key, tag]) => tag !== null && key.length <= tagLimits.length)
    .slice(0, tagLimits.count);
  if (known.length === 0) return noTags;
  const isPlain = known.every(([, tag]) => typeof tag === "string" || typeof tag === "boolean");
  const exact = isPlain || document === undefined ? null : withNumbersAsWritten(document);
  return new Map(known.map(([key, tag]) => [withWholeCharacters(key), tagOf(tag, exact === null ? tag : exact[key])]));
}

/** Returns tags as a JSON object from which `parseTags` makes the same tags, but for the spelling of false numbers. */
export function writtenTags(tags: Tags): { readonly [name: string]: WrittenTag } {
  return Object.fromEntries([...tags].map(([key, tag]) => [key, tag.isTrue ? tag.text : writtenFalse(tag.text)]));
}

type WrittenTag = string | number | boolean | readonly [] | { readonly [key: string]: never };

/** A value that is false, of the type that its text shows. */
function writtenFalse(text: string): WrittenTag {
  if (text === "") return text;
  if (text === "[]") return [];
  return text === "{}" ? {} : text === "false" ? false : 0;
}

/** Tags that keep a node from a role or a service that an operator may expect of it. */
export const restrictingTags: readonly string[] = ["nofailover", "noloadbalance", "nosync", "nostream"];

/** Returns the texts of tags by name, of `restrictingTags` only those that are in effect. */
export function tagTexts(tags: Tags): { readonly [name: string]: string } {
  const shown = [...tags].filter(
    ([key, { isTrue }]) => !restrictingTags.includes(key) || (key === "nostream" ? isNoStream(tags) : isTrue),
  );
  return Object.fromEntries(shown.map(([key, { text }]) => [key, text]));
}

/** Whether the node takes no reads: any value that Python holds for true says so. */
export function isNoLoadBalance(tags: Tags): boolean {
  return tags.get("noloadbalance")?.isTrue === true;
}

/** Whether the node may not become the leader: `nofailover` decides, without it a `failover_priority` below 1. */
export function isNoFailover(tags: Tags): boolean {
  const tag = tags.get("nofailover");
  if (tag !== undefined) return tag.isTrue;
  return (priorityIn(tags) ?? 1) <= 0;
}

/** The node's rank in a failover: 0 with `nofailover`, else `failover_priority`, and 1 where that is no number. */
export function priorityInFailover(tags: Tags): number {
  return tags.get("nofailover")?.isTrue === true ? 0 : (priorityIn(tags) ?? 1);
}

/** Whether the node does not stream. Patroni reads this tag, unlike the older ones, as a boolean of PostgreSQL. */
export function isNoStream(tags: Tags): boolean {
  return ["on", "true", "yes", "1"].includes(tags.get("nostream")?.text.toLowerCase() ?? "");
}

/** Reads `failover_priority` as C's `strtol` with base 0 does, else as a decimal number, rounded half to even. */
function priorityIn(tags: Tags): number | null {
  const text = tags.get("failover_priority")?.text ?? "";
  const [, sign, digits] = /^\s*([+-]?)(0x[\da-f]+|0[0-7]*|[1-9]\d*)\s*$/i.exec(text) ?? [];
  if (digits !== undefined) {
    const size = /^0\d/.test(digits) ? Number.parseInt(digits, 8) : Number(digits);
    return sign === "-" ? -size : size;
  }
  const [number] = /^\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?\s*$/i.exec(text) ?? [];
  if (number === undefined) return null;
  const [value, floor] = [Number(number), Math.floor(Number(number))];
  return (value - floor === 0.5 ? floor + (Math.abs(floor) % 2) : Math.round(value)) + 0;
}

function tagOf(value: unknown, exact: unknown): Tag {
  const text = typeof value === "string" ? value : pythonText(exact, 0).toLowerCase();
  const isEmpty = Array.isArray(value) ? value.length === 0 : isObject(value) && Object.keys(value).length === 0;
  // For Python, NaN is true.
  const isTrue = (Boolean(value) || Number.isNaN(value)) && !isEmpty;
  return { text: withWholeCharacters(text.slice(0, tagLimits.length)), isTrue };
}

/** Marks a string that stands for a number as the document writes it. */
const numberMark = "\u0000";

/** Returns the document's tags with each number as a marked string; `null` if that cannot be read. */
function withNumbersAsWritten(document: string): { readonly [key: string]: unknown } | null {
  const marked = document.replaceAll(/"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|NaN|-?Infinity/g, (token) =>
    token.startsWith('"') ? token : JSON.stringify(numberMark + token.replace("Infinity", "inf")),
  );
  const value = parseJson(marked);
  return isObject(value) && isObject(value["tags"]) ? value["tags"] : null;
}

/** Deeper values have no text: no check can name them. */
const depthMax = 32;

/** The text of a value as Python's `str` writes it; below the top, as `repr` does. */
function pythonText(value: unknown, depth: number): string {
  if (depth > depthMax) return "…";
  if (value === null || value === undefined) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value === "number") return Number.isFinite(value) ? String(value) : pythonNumber(value);
  if (typeof value === "string") return value.startsWith(numberMark) ? value.slice(1) : pythonString(value);
  if (Array.isArray(value)) return `[${value.map((item) => pythonText(item, depth + 1)).join(", ")}]`;
  const members = isObject(value) ? Object.entries(value) : [];
  return `{${members.map(([key, item]) => `${pythonString(key)}: ${pythonText(item, depth + 1)}`).join(", ")}}`;
}

/** The text of a number without a size. */
function pythonNumber(value: number): string {
  return Number.isNaN(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

/** The text of a string in a list or a map: Python prefers single quotes. */
function pythonString(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const escaped = text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll("\r", "\\r").replaceAll("\t", "\\t");
  return quote + (quote === "'" ? escaped.replaceAll("'", "\\'") : escaped) + quote;
}
