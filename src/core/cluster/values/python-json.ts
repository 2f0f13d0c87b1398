import { hasHalfCharacter, parseJson } from "./json.ts";

/** Deeper texts are not read: Python's own reader and writer give up at about this depth. */
const depthMax = 1_000;

/** What a text is: its value, or the position of the character that no JSON of Python has there. */
export type ReadJson = { readonly value: unknown } | { readonly failedAt: number };

/**
 * Reads JSON as Python writes it (`json.dumps`): beside strict JSON, the numbers `NaN`, `Infinity` and `-Infinity`.
 * Nodes are programs of Python: one such value, as a tag, must not cost the whole document. A strict text costs what
 * `JSON.parse` does; the tokens of every other one are read one by one. Never throws.
 */
export function readPythonJson(text: string): ReadJson {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return tokenize(text);
  }
}

/** The same, for callers that need no position. Returns `undefined` if the text is no JSON of Python. */
export function parsePythonJson(text: string): unknown {
  const read = readPythonJson(text);
  return "value" in read ? read.value : undefined;
}

/** Reads a text token by token. Of strict JSON the result equals that of `JSON.parse`. */
export function tokenize(text: string): ReadJson {
  const tokens = new Tokens(text);
  try {
    const value = tokens.value(0);
    tokens.end();
    return { value };
  } catch (error) {
    if (!(error instanceof Unexpected)) throw error;
    return { failedAt: error.at };
  }
}

/** A character that cannot stand where it does. */
class Unexpected extends Error {
  readonly at: number;
  constructor(at: number) {
    super("unexpected character");
    this.at = at;
  }
}

const literals: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ["null", null],
  ["true", true],
  ["false", false],
  ["NaN", Number.NaN],
  ["Infinity", Infinity],
  ["-Infinity", -Infinity],
]);
const blank = /[ \t\n\r]*/y;
const word = /-?[A-Za-z]+/y;
const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

class Tokens {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  value(depth: number): unknown {
    this.#skip(blank);
    const char = this.#text[this.#at];
    if (depth > depthMax) throw new Unexpected(this.#at);
    if (char === "{") return this.#object(depth);
    if (char === "[") return this.#list(depth);
    if (char === '"') return this.#string();
    const written = this.#skip(number);
    return written === "" ? this.#literal() : Number(written);
  }

  end(): void {
    this.#skip(blank);
    if (this.#at < this.#text.length) throw new Unexpected(this.#at);
  }

  #object(depth: number): object {
    const object: Record<string, unknown> = {};
    this.#at += 1;
    if (this.#takes("}")) return object;
    do {
      this.#skip(blank);
      const key = this.#string();
      this.#expect(":");
      const value = this.value(depth + 1);
      // An assignment would set the object's prototype.
      if (key === "__proto__")
        Object.defineProperty(object, key, { value, configurable: true, enumerable: true, writable: true });
      else object[key] = value;
    } while (this.#takes(","));
    this.#expect("}");
    return object;
  }

  #list(depth: number): readonly unknown[] {
    const list: unknown[] = [];
    this.#at += 1;
    if (this.#takes("]")) return list;
    do list.push(this.value(depth + 1));
    while (this.#takes(","));
    this.#expect("]");
    return list;
  }

  #string(): string {
    const began = this.#at;
    if (this.#text[began] !== '"') throw new Unexpected(began);
    let end = this.#text.indexOf('"', began + 1);
    while (end > 0 && isEscaped(this.#text, end)) end = this.#text.indexOf('"', end + 1);
    const value = end < 0 ? undefined : parseJson(this.#text.slice(began, end + 1));
    if (typeof value !== "string") throw new Unexpected(began);
    this.#at = end + 1;
    return value;
  }

  #literal(): unknown {
    const began = this.#at;
    const name = this.#skip(word);
    if (!literals.has(name)) throw new Unexpected(began);
    return literals.get(name);
  }

  /** Goes past a token. Returns its text, which is empty if it is not here. */
  #skip(token: RegExp): string {
    token.lastIndex = this.#at;
    const [found = ""] = token.exec(this.#text) ?? [];
    this.#at += found.length;
    return found;
  }

  #takes(char: string): boolean {
    this.#skip(blank);
    if (this.#text[this.#at] !== char) return false;
    this.#at += 1;
    return true;
  }

  #expect(char: string): void {
    if (!this.#takes(char)) throw new Unexpected(this.#at);
  }
}

/** Whether a character has an odd number of backslashes before it. */
function isEscaped(text: string, at: number): boolean {
  let before = at;
  while (text[before - 1] === "\\") before -= 1;
  return (at - before) % 2 === 1;
}

/**
 * Whether a value is one that Python writes and nobody else can be trusted to read: a number without a size, or a string
 * with half a character (a lone surrogate).
 */
export function isUnreadable(value: unknown): boolean {
  return typeof value === "number" ? !Number.isFinite(value) : typeof value === "string" && hasHalfCharacter(value);
}

/**
 * Finds values that {@link isUnreadable} means, in a value or its keys.
 * @param text what the value was read from: one without a sign of such values is not searched. A half character comes as
 * an escape, as what is sent is UTF-8
 * @throws RangeError if the value is nested too deeply
 */
export function hasUnreadable(value: unknown, text: string): boolean {
  const mayHave = text.includes("NaN") || text.includes("Infinity") || text.includes("\\u");
  return mayHave && containsUnreadable(value);
}

function containsUnreadable(value: unknown): boolean {
  if (isUnreadable(value)) return true;
  if (typeof value !== "object" || value === null) return false;
  return Object.entries(value).some(([key, member]) => hasHalfCharacter(key) || containsUnreadable(member));
}

/**
 * Returns a value that can be written as strict JSON: with `null` for each unreadable value. Keys have a `\ufffd` for
 * each half character.
 * @throws RangeError if the value is nested too deeply
 */
export function withoutUnreadable(value: unknown): unknown {
  if (isUnreadable(value)) return null;
  if (Array.isArray(value)) return value.map(withoutUnreadable);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).map(([key, member]) => [withWholeCharacters(key), withoutUnreadable(member)]);
  return Object.fromEntries(members);
}

/** Returns a text with a `\ufffd` for each half character. */
export function withWholeCharacters(text: string): string {
  return text.replaceAll(/\p{Cs}/gu, "\ufffd");
}
