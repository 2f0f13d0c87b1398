/** What one question was answered over time, by a node and by us; and what these two rows of samples prove. Pure. */

/** One answer. Status 0 is silence. The instants are of the monotonic clock, in milliseconds. */
export interface Sample {
  readonly sentAtMs: number;
  readonly repliedAtMs: number;
  readonly status: number;
}

export interface Timeline {
  readonly node: string;
  readonly route: string;
  /** The node's own answers, oldest first. */
  readonly theirs: readonly Sample[];
  /** Ours about this node, oldest first. */
  readonly ours: readonly Sample[];
}

/** A change of the node's answer, and when ours followed. */
export interface Change {
  readonly node: string;
  readonly route: string;
  readonly from: number;
  readonly to: number;
  readonly atMs: number;
  /** 0 if rolecall's answer had changed before; null if the node changed again, or the watch ended, before it did. */
  readonly delayMs: number | null;
}

/** Every change between yes, no and silence of the node, with the time that ours (yes or no) took to follow. */
export function changes({ node, route, theirs, ours }: Timeline): readonly Change[] {
  return theirs.flatMap((sample, index): readonly Change[] => {
    const before = theirs[index - 1];
    if (before === undefined || before.status === sample.status) return [];
    const atMs = seenAtMs(sample);
    const next = theirs.slice(index + 1).find((later) => isYes(later) !== isYes(sample));
    const untilMs = next === undefined ? Infinity : seenAtMs(next);
    const follower = ours.find(
      (our) => our.sentAtMs >= before.sentAtMs && our.sentAtMs < untilMs && isYes(our) === isYes(sample),
    );
    const delayMs = follower === undefined ? null : Math.max(0, follower.repliedAtMs - atMs);
    return [{ node, route, from: before.status, to: sample.status, atMs, delayMs }];
  });
}

/**
 * The longest time that a yes of ours outlived the node's, in milliseconds; 0 when none did.
 * It counts from the first proof of the node's no to the last question that we still answered yes, while the no lasted:
 * what it finds did happen, by at least so much. A yes that returns meanwhile counts in full, too. There is one
 * exception: a starting PostgreSQL runs for a moment before it restarts, which two samples of a check of its state may
 * both miss. A returning yes to such a check counts from its own begin, unless it outlasts our next probe.
 */
export function overhangMs({ route, theirs, ours }: Timeline): number {
  const spans = noes(theirs);
  const overhangs = runsOfYes(ours).flatMap((run) => {
    const [first] = run;
    return spans.flatMap(([from, to]) => {
      const during = run.filter(({ sentAtMs }) => from < sentAtMs && sentAtMs <= to);
      const last = during.at(-1);
      if (first === undefined || last === undefined) return [];
      const ownMs = last.sentAtMs - first.sentAtMs;
      const isBrief = !leaderRoutes.includes(route) && first.sentAtMs > from && ownMs <= returnMaxMs;
      return [isBrief ? ownMs : last.sentAtMs - from];
    });
  });
  return Math.max(0, ...overhangs);
}

/**
 * Instants at which we proved to call two nodes fit for the same route: one between two yeses in a row about another.
 */
export function together(timelines: readonly Timeline[]): readonly number[] {
  return timelines.flatMap((one) =>
    timelines
      .filter((other) => other.node !== one.node && other.route === one.route)
      .flatMap((other) => {
        const yeses = other.ours.filter(isYes).map(({ sentAtMs }) => sentAtMs);
        return pairs(one.ours).flatMap(([a, b]) =>
          isYes(a) && isYes(b) ? yeses.filter((at) => a.repliedAtMs <= at && at <= b.sentAtMs) : [],
        );
      }),
  );
}

export function isYes({ status }: { readonly status: number }): boolean {
  return status === 200;
}

/**
 * The longest time without a request to the node, in milliseconds, over which its no is taken to last. In a longer one
 * a node can restart, answer yes and restart again.
 */
const unwatchedMaxMs = 1500;

/** Checks of who leads. No starting server passes them for a moment. */
const leaderRoutes: readonly string[] = ["/primary", "/leader"];
/** The longest time that a yes to a state of a moment may last, in milliseconds: 1.5 intervals of our probes. */
const returnMaxMs = 1500;

/** Our yeses, each with those that follow it without another answer between. */
function runsOfYes(samples: readonly Sample[]): readonly (readonly Sample[])[] {
  const runs: Sample[][] = [];
  for (const [index, sample] of samples.entries()) {
    const before = samples[index - 1];
    if (!isYes(sample)) continue;
    if (before !== undefined && isYes(before)) runs.at(-1)?.push(sample);
    else runs.push([sample]);
  }
  return runs;
}

/**
 * Spans in which the node did not answer yes: from the first no to the last one before its next yes, or before a time
 * in which it was not watched.
 */
function noes(samples: readonly Sample[]): readonly (readonly [from: number, to: number])[] {
  const spans: [number, number][] = [];
  for (const [index, sample] of samples.entries()) {
    const before = samples[index - 1];
    const last = spans.at(-1);
    if (isYes(sample)) continue;
    const isUnwatched = before !== undefined && sample.sentAtMs - before.repliedAtMs > unwatchedMaxMs;
    if (last === undefined || before === undefined || isYes(before) || isUnwatched)
      spans.push([seenAtMs(sample), seenAtMs(sample)]);
    else last[1] = Math.max(last[1], sample.sentAtMs);
  }
  return spans;
}

/** The instant for which a sample is evidence: a missing response from its request on, a response at its arrival. */
function seenAtMs(sample: Sample): number {
  return sample.status === 0 ? sample.sentAtMs : sample.repliedAtMs;
}

function pairs<T>(items: readonly T[]): readonly (readonly [T, T])[] {
  return items.slice(1).map((item, index) => [items[index] as T, item]);
}
