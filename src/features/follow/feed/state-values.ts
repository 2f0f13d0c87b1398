import * as z from "zod";

/** What turns the owner's instants into the follower's. */
export interface FollowerTimes {
  /** In ms. */
  readonly toFollower: (instantMs: number) => number;
  /** When the state was sent, in ms of the follower's clock: nothing that has happened is later. */
  readonly sentAtMs: () => number;
}

/** How instants are read. */
export interface InstantSchemas {
  /** Of what has happened: an owner cannot make evidence count for longer by dating it ahead. */
  readonly instant: z.ZodType<number>;
  /** Of what is to happen, or may be. */
  readonly deadline: z.ZodType<number>;
}

/** How much of why a request failed is sent, in characters. */
export const detailMax = 200;

// How values that JSON does not have are written: a Map as its entries, a Set as its elements, infinity as its name.

/** A state as JSON text. */
export function writtenState(state: object): string {
  return JSON.stringify(state, (_, value: unknown) => {
    if (value instanceof Map || value instanceof Set) return [...value];
    return value === Infinity || value === -Infinity ? String(value) : value;
  });
}

const infinity = z.enum(["Infinity", "-Infinity"]).transform(Number);

/** A number that may be infinite. */
export const sentFigure: z.ZodType<number> = z.union([z.number(), infinity]);
export const sentFigureOrNull: z.ZodType<number | null> = sentFigure.nullable();
/** A name, an address or a few words. */
export const sentText: z.ZodType<string> = z.string().max(1_024);
export const sentTextOrNull: z.ZodType<string | null> = sentText.nullable();
export const sentFlag: z.ZodType<boolean> = z.boolean();

/** No instant is further from the beginning of a clock, in ms: three centuries. Dates can be written of them all. */
export const instantMax = 1e13;
/** More entries than any list or map of a cluster has. */
export const entriesMax = 1_024;

/** An instant, in ms of some clock. */
export const sentInstant: z.ZodType<number> = z.number().min(-instantMax).max(instantMax);

/** Instants of the owner's clock. */
export function instantsBy({ toFollower, sentAtMs }: FollowerTimes): InstantSchemas {
  const never = z.literal("-Infinity").transform(Number);
  return {
    instant: z.union([sentInstant.transform((ownersMs) => Math.min(toFollower(ownersMs), sentAtMs())), never]),
    deadline: z.union([sentInstant.transform(toFollower), infinity]),
  };
}

/** A list that has an end. */
export function sentList<T>(value: z.ZodType<T>): z.ZodType<readonly T[]> {
  return boundedList(value, entriesMax);
}

/**
 * A list of at most so many entries. Of a longer one no entry is read: each that is not valid would cost more than it
 * has bytes.
 */
export function boundedList<T>(value: z.ZodType<T>, most: number): z.ZodType<T[]> {
  const error = `at most ${most} entries`;
  return z.custom<unknown[]>((list) => Array.isArray(list) && list.length <= most, { error }).pipe(z.array(value));
}

/** A text for people, of which so many characters count. */
export function shortened(most: number): z.ZodType<string> {
  // A slice alone would keep the whole text in memory.
  return z.string().transform((text) => (text.length <= most ? text : Buffer.from(text.slice(0, most)).toString()));
}

/** A Map of names. */
export function mapOf<T>(value: z.ZodType<T>): z.ZodType<ReadonlyMap<string, T>> {
  return sentList(z.tuple([sentText, value])).transform((entries) => new Map(entries));
}
