import { listOf, objectOf } from "../../../core/cluster/values/json.ts";
import type { JsonLimits } from "../../../core/probe/parse/json-size.ts";

/** So many characters are parsed, or looked at, at once: what they contain takes a few ms at most. */
const [pieceMax, lookMax] = [16_384, 262_144] as const;
/** Values larger than a piece are no deeper in each other than this. */
const depthMax = 16;
/** Brackets are no deeper in each other than this. */
const openMax = 256;
const noJson = "a message is no JSON";

/** A list or an object of a text that is larger than a piece. */
interface Large {
  readonly isList: boolean;
  /** The positions of its brackets. */
  readonly from: number;
  to: number;
  /** The position of each comma between its entries. */
  readonly commas: number[];
  /** Its entries that are large themselves, by position. */
  readonly large: Large[];
}

const [quote, backslash, colon, comma] = [0x22, 0x5c, 0x3a, 0x2c];
const [openList, closeList, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * Parses a JSON text as `JSON.parse` does, and stops after each piece of it, so that other work goes on between. How
 * long a piece takes does not depend on what the text contains. A key `__proto__` of a large object is left out.
 * @param limits the members and values that the text may have: they are counted before anything is parsed
 * @returns the value
 * @throws SyntaxError if the text is no JSON
 * @throws Error if it has more, or is too deep
 */
export function* parseInPieces(
  text: string,
  limits: JsonLimits,
  piece: number = pieceMax,
): Generator<undefined, unknown, void> {
  if (text.length <= piece) return JSON.parse(text);
  const top = yield* largeIn(text, limits, piece);
  if (top === null) return JSON.parse(text);
  blank(text, 0, top.from);
  blank(text, top.to + 1, text.length);
  return yield* valueOf(text, top, { piece, depth: 0 });
}

/** @returns the list or object that the text is; `null` if it has none that is large */
function* largeIn(
  text: string,
  { members, separators }: JsonLimits,
  piece: number,
): Generator<undefined, Large | null, void> {
  const open: Large[] = [];
  let top: Large | null = null;
  let [colons, commas, next] = [0, 0, lookMax];
  for (let at = 0; at < text.length; at += 1) {
    if (at >= next) {
      next = at + lookMax;
      yield;
    }
    const code = text.charCodeAt(at);
    if (code === quote) at = endOfString(text, at + 1);
    else if (code === colon) colons += 1;
    else if (code === comma) {
      commas += 1;
      open.at(-1)?.commas.push(at);
    } else if (code === openList || code === openObject) {
      if (open.length >= openMax) throw new Error("a message is too deep");
      open.push({ isList: code === openList, from: at, to: at, commas: [], large: [] });
    } else if (code === closeList || code === closeObject) {
      const closed = open.pop();
      if (closed === undefined || closed.isList !== (code === closeList)) throw new SyntaxError(noJson);
      closed.to = at;
      if (at - closed.from >= piece) {
        const outer = open.at(-1);
        if (outer !== undefined) outer.large.push(closed);
        else if (top === null) top = closed;
        else throw new SyntaxError(noJson);
      }
    }
    if (colons > members || commas > separators) throw new Error("a message has too many values");
  }
  if (open.length > 0) throw new SyntaxError(noJson);
  return top;
}

function* valueOf(
  text: string,
  { isList, from, to, commas, large }: Large,
  { piece, depth }: { readonly piece: number; readonly depth: number },
): Generator<undefined, unknown, void> {
  if (depth > depthMax) throw new Error("a message is too deep");
  const list: unknown[] = [];
  const object: Record<string, unknown> = {};
  const add = (entries: string): void => {
    const parsed: unknown = JSON.parse(isList ? `[${entries}]` : `{${entries}}`);
    const keys = Object.keys(objectOf(parsed));
    for (const key of keys) put(object, key, objectOf(parsed)[key]);
    const values = listOf(parsed);
    for (const value of values) list.push(value);
    if (keys.length + values.length === 0 && commas.length > 0) throw new SyntaxError(noJson);
  };
  /** Where the entries begin that wait for the end of their piece; and how many of the large ones are done. */
  let start: number | null = null;
  let [entry, done] = [from + 1, 0];
  for (const end of [...commas, to]) {
    const inner = large[done];
    if (inner !== undefined && inner.from < end) {
      if (start !== null) add(text.slice(start, entry - 1));
      start = null;
      done += 1;
      blank(text, inner.to + 1, end);
      const value = yield* valueOf(text, inner, { piece, depth: depth + 1 });
      if (isList) {
        blank(text, entry, inner.from);
        list.push(value);
      } else
        // Before the value stands nothing but its key: anything else makes no JSON with `null` after it.
        put(object, Object.keys(JSON.parse(`{${text.slice(entry, inner.from)}null}`))[0] ?? "", value);
    } else {
      start ??= entry;
      if (end - start >= piece || end === to) {
        add(text.slice(start, end));
        start = null;
        yield;
      }
    }
    entry = end + 1;
  }
  return isList ? list : object;
}

function put(object: Record<string, unknown>, key: string, value: unknown): void {
  // It would be the prototype of the object.
  if (key !== "__proto__") object[key] = value;
}

/** @throws SyntaxError if a text has anything between two positions */
function blank(text: string, from: number, to: number): void {
  if (!/^[ \t\r\n]*$/.test(text.slice(from, to))) throw new SyntaxError(noJson);
}

/** @param from the position after the opening quote @returns the position of the closing quote, or the text's length */
function endOfString(text: string, from: number): number {
  let end = text.indexOf('"', from);
  while (end > 0 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end < 0 ? text.length : end;
}

function isEscaped(text: string, at: number): boolean {
  let before = at;
  while (text.charCodeAt(before - 1) === backslash) before -= 1;
  return (at - before) % 2 === 1;
}
