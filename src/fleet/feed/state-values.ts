import * as z from "zod";

/** Turns an instant of the owner's clock into one of the follower's, in ms. */
export type ToFollower = (instantMs: number) => number;

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
export const sentText: z.ZodType<string> = z.string();
export const sentTextOrNull: z.ZodType<string | null> = sentText.nullable();
export const sentFlag: z.ZodType<boolean> = z.boolean();

/** An instant of the owner's clock. */
export function instantBy(toFollower: ToFollower): z.ZodType<number> {
  return z.union([z.number().transform(toFollower), infinity]);
}

/** A Map of names. */
export function mapOf<T>(value: z.ZodType<T>): z.ZodType<ReadonlyMap<string, T>> {
  return z.array(z.tuple([sentText, value])).transform((entries) => new Map(entries));
}
