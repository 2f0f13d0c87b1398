import * as z from "zod";
import { type PauseTarget, pauseName } from "../machine/plan.ts";

/** The right to run a switchover of a cluster that a rolecall asks for. */
export interface Claim {
  readonly run: string;
  readonly cluster: string;
  /** Of two runs of a cluster the later one has the higher number. */
  readonly generation: number;
  /** Who asks, for people. */
  readonly by: string;
  /** The process that asks. It has one run of a cluster at a time: a new one means that the one before is over. */
  readonly instance: string;
  readonly databases: readonly PauseTarget[];
}

/** What another rolecall asks by `POST /claims`. */
export interface AskedClaim extends Claim {
  /** Whether only the answer is wanted: nothing is promised. */
  readonly isDryRun: boolean;
}

/** For how long a claim that is granted counts, in ms: as long as all steps before the first heartbeat may take. */
export const claimLeaseMs = 15_000;
/** The most databases of a claim, and the longest name, in characters. */
const databasesMax = 16_384;
const nameMax = 128;

const text = z.string().min(1).max(nameMax);
const claimShape = {
  run: z.string().regex(/^[\w:-]{1,32}$/),
  cluster: text,
  generation: z.int().min(1).max(Number.MAX_SAFE_INTEGER),
  by: text,
  instance: text,
  databases: z
    .array(z.strictObject({ pooler: text, database: text }))
    .min(1)
    .max(databasesMax),
};
export const claimSchema = z.strictObject(claimShape);
const askedSchema = z.strictObject({ ...claimShape, dry_run: z.boolean() });

/** The body of `POST /claims`. */
export function writtenClaim({ isDryRun, ...claim }: AskedClaim): string {
  return JSON.stringify({ ...claim, dry_run: isDryRun });
}

/** Reads the body of `POST /claims`. @returns what is wrong with it, as a text, if it is no claim */
export function readClaim(body: unknown): AskedClaim | string {
  const read = askedSchema.safeParse(body);
  if (!read.success) {
    const [first] = read.error.issues;
    return `${first?.path.join(".") || "it"}: ${first?.message ?? "it cannot be read"}`;
  }
  const { dry_run: isDryRun, ...claim } = read.data;
  return { ...claim, isDryRun };
}

/** Whether two runs must not go on at the same time: they are of the same cluster, or pause the same database. */
export function isConflict(
  one: Pick<Claim, "cluster" | "databases">,
  other: Pick<Claim, "cluster" | "databases">,
): boolean {
  if (one.cluster === other.cluster) return true;
  const names = new Set(one.databases.map(pauseName));
  return other.databases.some((database) => names.has(pauseName(database)));
}
