import type { ClaimAnswer } from "../../../core/cluster/run-claim.ts";
import { type Claim, claimLeaseMs, isConflict } from "./claim.ts";

/**
 * How far a claim is here.
 * - `asked`: this process asks others for it. It is not sure yet
 * - `yielded`: this process asked for it, and has promised another one that comes before it
 * - `held`: everybody has granted it to this process
 * - `promised`: this process has granted it to another one, until a time in ms of rolecall's clock
 */
export type BookedClaim = { readonly claim: Claim } & (
  { readonly kind: "asked" | "yielded" | "held" } | { readonly kind: "promised"; readonly untilMs: number }
);

/** What this process knows of claims. `generations`: the highest number of each cluster. */
export interface ClaimBook {
  readonly entries: readonly BookedClaim[];
  readonly generations: ReadonlyMap<string, number>;
}

export const emptyBook: ClaimBook = { entries: [], generations: new Map() };

/** A run that another rolecall has announced here, or that is being finished here. */
export interface OpenRun extends Pick<Claim, "run" | "cluster" | "databases"> {
  /** What it is, for people: `the run of core2`. */
  readonly what: string;
}

/** The most promises that are kept: one for each cluster of a large installation. */
const entriesMax = 1_024;
/** The most databases of all promises together: four of the longest claims. */
const databasesInAllMax = 65_536;
/** Of so many clusters the highest number is kept: those claimed last. A claim may name any cluster. */
const generationsMax = 4_096;

/**
 * Higher numbers come one by one only: a single claim must not use up all numbers, which would forbid every later
 * switchover. Revisions of the store of a fleet are numbers, too, and lower than this.
 */
const freeGenerations = 2 ** 40;
const generationStep = 1_000;

/** Drops promises that have ended. */
export function current(book: ClaimBook, nowMs: number): ClaimBook {
  const entries = book.entries.filter((entry) => entry.kind !== "promised" || entry.untilMs > nowMs);
  return entries.length === book.entries.length ? book : { ...book, entries };
}

/** The number that the next claim of a cluster must have at least. */
export function nextGeneration({ generations }: ClaimBook, cluster: string): number {
  return (generations.get(cluster) ?? 0) + 1;
}

/**
 * Answers a claim of another process. Two processes that ask each other at the same time come to the same end: of two claims
 * that nobody has granted yet, that with the lower name of its run comes first at both.
 * @param open the runs that are announced here, or finished here
 * @returns the answer, and the book after it
 */
export function promise(
  known: ClaimBook,
  claim: Claim,
  { open, nowMs }: { readonly open: readonly OpenRun[]; readonly nowMs: number },
): { readonly answer: ClaimAnswer; readonly book: ClaimBook } {
  const book = current(known, nowMs);
  const highest = book.generations.get(claim.cluster) ?? 0;
  const deny = (why: string, isBehind = false): { readonly answer: ClaimAnswer; readonly book: ClaimBook } => ({
    answer: { kind: "denied", why, generation: highest, isBehind },
    book,
  });
  const generationMax = Math.max(highest, freeGenerations) + generationStep;
  if (claim.generation > generationMax)
    return deny(`the number of the run must be at most ${generationMax}, got ${claim.generation}`);
  const isReplaced = (entry: BookedClaim): boolean =>
    entry.kind === "promised" && entry.claim.instance === claim.instance && entry.claim.cluster === claim.cluster;
  const others = book.entries.filter(
    (entry) => entry.claim.run !== claim.run && !isReplaced(entry) && isConflict(entry.claim, claim),
  );
  const inTheWay =
    others.find((entry) => entry.kind === "held" || entry.kind === "promised") ??
    others.find((entry) => entry.kind === "asked" && entry.claim.run < claim.run);
  if (inTheWay !== undefined) return deny(textOf(inTheWay));
  const run = open.find((one) => one.run !== claim.run && isConflict(one, claim));
  if (run !== undefined) return deny(run.what);
  const again = book.entries.find((entry) => entry.claim.run === claim.run);
  const isBehind = claim.generation <= highest && again?.claim.generation !== claim.generation;
  if (isBehind) return deny(`a run of ${claim.cluster} has the number ${highest} already`, true);
  if (again === undefined && book.entries.length >= entriesMax)
    return deny(`${entriesMax} claims are promised already`);
  const promised = book.entries.filter((entry) => entry !== again && !isReplaced(entry));
  const inAll = promised.reduce((sum, entry) => sum + entry.claim.databases.length, claim.databases.length);
  if (inAll > databasesInAllMax) return deny(`${databasesInAllMax} databases are promised already`);
  const entries = promised.map((entry): BookedClaim =>
    others.includes(entry) ? { claim: entry.claim, kind: "yielded" } : entry,
  );
  return {
    answer: { kind: "granted", leaseMs: claimLeaseMs, isMutual: null },
    book: {
      entries: [...entries, { kind: "promised", claim, untilMs: nowMs + claimLeaseMs }],
      generations: withGeneration(book, claim.cluster, Math.max(highest, claim.generation)),
    },
  };
}

/**
 * Enters a claim of this process, before it asks others.
 * @returns why it must not, or the book with it
 */
export function ask(
  known: ClaimBook,
  claim: Claim,
  { open, nowMs }: { readonly open: readonly OpenRun[]; readonly nowMs: number },
): { readonly book: ClaimBook } | { readonly why: string } {
  const book = current(known, nowMs);
  const other = book.entries.find(
    (entry) => entry.claim.run !== claim.run && entry.kind !== "yielded" && isConflict(entry.claim, claim),
  );
  if (other !== undefined) return { why: textOf(other) };
  const run = open.find((one) => one.run !== claim.run && isConflict(one, claim));
  if (run !== undefined) return { why: run.what };
  const entries = book.entries.filter((entry) => entry.claim.run !== claim.run);
  const generation = Math.max(book.generations.get(claim.cluster) ?? 0, claim.generation);
  return {
    book: {
      entries: [...entries, { kind: "asked", claim }],
      generations: withGeneration(book, claim.cluster, generation),
    },
  };
}

/**
 * The highest numbers with that of a cluster. One that is forgotten is learned again: a peer that knows a higher one
 * denies the next claim, and states its number.
 */
function withGeneration({ generations, entries }: ClaimBook, cluster: string, generation: number): Map<string, number> {
  const all = new Map(generations);
  all.delete(cluster);
  all.set(cluster, generation);
  if (all.size <= generationsMax) return all;
  const claimed = new Set(entries.map(({ claim }) => claim.cluster));
  const oldest = [...all.keys()].find((name) => name !== cluster && !claimed.has(name));
  if (oldest !== undefined) all.delete(oldest);
  return all;
}

/** Everybody has granted the claim of this process. @returns `null` if it has promised another one meanwhile */
export function hold(book: ClaimBook, run: string): ClaimBook | null {
  const own = book.entries.find((entry) => entry.claim.run === run);
  if (own?.kind !== "asked") return null;
  const entries = book.entries.map((entry): BookedClaim =>
    entry === own ? { kind: "held", claim: own.claim } : entry,
  );
  return { ...book, entries };
}

/** Forgets a claim that is over. */
export function withoutClaim(book: ClaimBook, run: string): ClaimBook {
  return { ...book, entries: book.entries.filter((entry) => entry.claim.run !== run) };
}

/** Prolongs the promise for a run that was heard of. */
export function renew(book: ClaimBook, run: string, nowMs: number): ClaimBook {
  const own = book.entries.find((entry) => entry.claim.run === run);
  if (own?.kind !== "promised") return book;
  const entries = book.entries.map((entry) => (entry === own ? { ...own, untilMs: nowMs + claimLeaseMs } : entry));
  return { ...book, entries };
}

function textOf({ kind, claim }: BookedClaim): string {
  const run = `a switchover of ${claim.cluster} (${claim.run})`;
  if (kind === "held") return `${run} goes on here`;
  return kind === "promised" ? `${run} is promised to ${claim.by}` : `${run} begins here`;
}
