import { parseByteSize } from "../../../core/cluster/values/byte-size.ts";
import { parseDuration } from "../../../core/cluster/values/duration.ts";
import { parseLsn } from "../../../core/cluster/values/lsn.ts";

/**
 * One value of an incident file, and its location there, for messages: `my-night.yaml, step 3 (at 4s),
 * nodes.pg2.state`.
 */
export class Reading {
  readonly #value: unknown;
  readonly #place: string;

  constructor(value: unknown, place: string) {
    this.#value = value;
    this.#place = place;
  }

  /** Whether the key was left out. */
  get isAbsent(): boolean {
    return this.#value === undefined;
  }

  get isNull(): boolean {
    return this.#value === null;
  }

  get isText(): boolean {
    return typeof this.#value === "string";
  }

  /** The mapping's values by key. @throws if it is not a mapping, or has a key that is not allowed */
  mapping(allowed: readonly string[]): (key: string) => Reading {
    const entries = this.entries();
    const stray = entries.find(([key]) => !allowed.includes(key));
    if (stray !== undefined)
      throw new Error(`Cannot read ${this.#place}: unknown key ${clipped(stray[0])}: allowed is ${allowed.join(", ")}`);
    const values = new Map(entries);
    return (key) => values.get(key) ?? new Reading(undefined, `${this.#place}.${key}`);
  }

  entries(): readonly (readonly [string, Reading])[] {
    if (typeof this.#value !== "object" || this.#value === null || Array.isArray(this.#value))
      throw this.refusal("a mapping");
    return Object.entries(this.#value).map(
      ([key, value]) => [key, new Reading(value, `${this.#place}.${key}`)] as const,
    );
  }

  list(): readonly Reading[] {
    if (!Array.isArray(this.#value)) throw this.refusal("a list");
    return this.#value.map((value, at) => new Reading(value, `${this.#place}[${at + 1}]`));
  }

  /** The same value at another location. */
  at(place: string): Reading {
    return new Reading(this.#value, place);
  }

  raw(): unknown {
    return this.#value;
  }

  text(otherwise?: string): string {
    if (this.isAbsent && otherwise !== undefined) return otherwise;
    const text = this.reported();
    if (text === "") throw this.refusal(textWanted);
    return text;
  }

  /** Text as a node reported it, which may be empty: a connection for replication may have no name. */
  reported(): string {
    if (typeof this.#value !== "string") throw this.refusal(textWanted);
    return this.#value;
  }

  /** Text as a node reported it, or `null` if the file has `null`: the node did not report it. */
  statement(otherwise: string | null): string | null {
    return this.isAbsent ? otherwise : this.isNull ? null : this.reported();
  }

  flag(otherwise: boolean): boolean {
    if (this.isAbsent) return otherwise;
    if (typeof this.#value !== "boolean") throw this.refusal("true or false");
    return this.#value;
  }

  /** Any plain number, or `null` if the file has `null`: the value is unknown. */
  figure(): number | null {
    if (this.isNull) return null;
    if (typeof this.#value !== "number" || !Number.isFinite(this.#value)) throw this.refusal("a number");
    return this.#value;
  }

  count(otherwise: number): number {
    if (this.isAbsent) return otherwise;
    if (typeof this.#value !== "number" || !Number.isSafeInteger(this.#value) || this.#value < 0)
      throw this.refusal("a whole number");
    return this.#value;
  }

  /** A plain number of seconds, as in the dynamic configuration. @returns milliseconds */
  seconds(): number {
    if (typeof this.#value !== "number" || !(this.#value >= 0)) throw this.refusal("a number of seconds");
    return this.#value * 1000;
  }

  span(otherwise: number): number {
    if (this.isAbsent) return otherwise;
    const ms = typeof this.#value === "string" ? parseDuration(this.#value) : undefined;
    if (ms === undefined) throw this.refusal("a span of time such as 500ms, 5s, 2min");
    return ms;
  }

  /** An instant of the file's own clock, in ms. It may have a sign and a fraction of a millisecond, as in exports. */
  instant(otherwise?: number): number {
    if (this.isAbsent && otherwise !== undefined) return otherwise;
    const match = typeof this.#value === "string" ? /^(-?)(\d+(?:\.\d+)?)(ms|s|min|m|h|d)$/.exec(this.#value) : null;
    if (match === null) throw this.refusal("an instant such as 0s, 1.5s, 20min");
    const unitMs = parseDuration(`1${match[3] ?? ""}`) ?? Number.NaN;
    return (match[1] === "-" ? -1 : 1) * Number(match[2]) * unitMs;
  }

  /** A wall-clock time. @returns ms since the epoch */
  wallTime(): number {
    const ms = typeof this.#value === "string" ? Date.parse(this.#value) : Number.NaN;
    if (Number.isNaN(ms)) throw this.refusal("a time such as 2026-11-21T03:12:00Z");
    return ms;
  }

  /**
   * A position that may advance with each repetition: `0/5000000`, `0/5000000 + 1MB` (each time), or `0/5000000 + 16MB
   * every 9s`. `null` if the file does not state it.
   */
  position(repetition: Repetition): number | null {
    if (this.isAbsent || this.isNull) return null;
    const match =
      typeof this.#value === "string" ? /^(\S+?)(?: ([+-]) (\S+?)(?: every (\S+))?)?$/.exec(this.#value) : null;
    const start = parseLsn(match?.[1] ?? "");
    const growth = match?.[3] === undefined ? 0 : parseByteSize(match[3]);
    const everyMs = match?.[4] === undefined ? 0 : parseDuration(match[4]);
    if (start === undefined || growth === undefined || everyMs === undefined)
      throw this.refusal("a position such as 0/5000000, 0/5000000 + 1MB or 0/5000000 + 16MB every 9s");
    const times = everyMs === 0 ? repetition.times : Math.floor(repetition.passedMs / everyMs);
    return start + (match?.[2] === "-" ? -1 : 1) * growth * times;
  }

  oneOf<T extends string>(allowed: readonly T[]): T {
    const found = allowed.find((one) => one === this.#value);
    if (found === undefined) throw this.refusal(`one of ${allowed.join(", ")}`);
    return found;
  }

  refusal(allowed: string): Error {
    const found = this.isAbsent ? "nothing" : clipped(JSON.stringify(this.#value));
    return new Error(`Cannot read ${this.#place}: it must be ${allowed}, got ${found}`);
  }
}

/** What an error says must stand where text is missing. */
const textWanted = "text (in quotes where it looks like a number)";

/** How much of a value a message quotes, in characters. */
const quotedMax = 80;

function clipped(text: string): string {
  return text.length > quotedMax ? `${text.slice(0, quotedMax)}…` : text;
}

/** The repetition of a repeated step: the number of earlier ones, and the time since the first. */
export interface Repetition {
  readonly times: number;
  readonly passedMs: number;
}
