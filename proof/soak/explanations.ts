import type { DoneAction, LoggedLine, SoakRecords } from "./records.ts";

/** How long after the end of a fault its events may be logged, in ms: a lock expires, views rest, workers start. */
const afterMs = 60_000;
/** How long after a gap in the processor's time nodes may be missed, in ms. */
const afterGapMs = 20_000;
/** The explanation of what a busy machine causes. */
const gapText = "no processor for a while";
/** The message that a worker ended. */
export const endsWorker = /^worker ended/;
const refusesReload = /^reload refused/;
/** Which error rolecall logs if a worker does not start, or does not open its listeners, within 15 s. */
const slowWorker = /^the worker exited, or did not /;
const instrument = /ExperimentalWarning: v8\.queryObjects|--trace-warnings/;

/**
 * What explains a line of the level error: a fault or switchover of its cluster, a worker that the soak killed, an
 * invalid configuration, or a process that had no processor for a while.
 * @returns `null` if nothing does
 */
export function explanationOf(line: LoggedLine, records: SoakRecords): string | null {
  const { msg, fields, atMs } = line;
  if (line.level === "none") return instrument.test(msg) ? "the sampler" : null;
  const since = (
    kinds: readonly DoneAction["action"]["kind"][],
    fits: (action: DoneAction) => boolean = () => true,
  ): boolean =>
    records.actions.some(
      (done) =>
        kinds.includes(done.action.kind) &&
        fits(done) &&
        done.begunMs <= atMs &&
        atMs <= done.atMs + done.action.lastsMs + afterMs,
    );
  if (endsWorker.test(msg) && since(["workerKill"], ({ result }) => result === String(fields["pid"])))
    return "a worker was killed";
  if (refusesReload.test(msg) && since(["invalidReload"])) return "an invalid configuration";
  // A worker that does not start or answer within 15 s is replaced, and a reload that it does not apply is refused.
  if (/^(?:worker|reload) /.test(msg)) return isStarved(records, atMs) ? gapText : null;
  if (typeof fields["event"] !== "string") return null;
  if (since(["switchover", "fault"], ({ result }) => result.startsWith(`${String(fields["cluster"])} `)))
    return "a switchover or a fault of the cluster";
  // A reload adds a cluster whose nodes are not known yet.
  if (since(["changedReload"]) && fields["event"] === "blind") return "a reload added the cluster";
  return isStarved(records, atMs) ? gapText : null;
}

/** Whether a line reports that a reload was refused because a worker was too slow, not because it was invalid. */
export function isRefusedForSlowness({ msg, fields }: LoggedLine): boolean {
  const { err } = fields as { readonly err?: { readonly message?: unknown } };
  return refusesReload.test(msg) && slowWorker.test(String(err?.message));
}

/** Whether a process had no processor shortly before. */
export function isStarved({ gaps }: Pick<SoakRecords, "gaps">, atMs: number): boolean {
  return gaps.some((gap) => gap.atMs <= atMs + 5_000 && gap.atMs > atMs - afterGapMs);
}
