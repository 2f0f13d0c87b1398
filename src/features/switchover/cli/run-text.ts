import { type Style, safe } from "../../../core/command/output/style.ts";
import type { ShownRun } from "./shown-run.ts";

/** What a step means for people. */
const stepTexts: ReadonlyMap<string, string> = new Map([
  ["checked", "nothing speaks against it"],
  ["armed", "what will be paused is on the disk, and everything that can resume it is ready"],
  ["paused", "clients wait"],
  ["requested", "the cluster is asked to switch over"],
  ["accepted", "the cluster has answered"],
  ["writable", "takes writes"],
  ["restarted", "has been restarted"],
  ["routed", "the routes lead there"],
  ["resuming", "clients may go on"],
  ["resumed", "nothing is paused any more"],
]);

/** What was printed of a run already. */
export interface PrintedRun {
  readonly checks: number;
  readonly steps: number;
}

/** What was printed before the first answer. */
export const nothingPrinted: PrintedRun = { checks: 0, steps: 0 };

/**
 * What is new of a run: the checks, and one line for each step with its time.
 * @returns the text, and what is printed with it
 */
export function newLines(
  { preflight, steps, restarted }: ShownRun,
  printed: PrintedRun,
  style: Style,
): { readonly text: string; readonly printed: PrintedRun } {
  const checks = preflight.slice(printed.checks).flatMap(({ level, subject, text, hint }) => {
    const paint = level === "error" ? style.red : level === "warning" ? style.yellow : style.green;
    return [
      `${paint(safe(level).padEnd(7))}  ${safe(`${subject}: ${text}`)}`,
      ...(hint === null ? [] : [`         ${style.dim(safe(hint))}`]),
    ];
  });
  const happened = steps
    .slice(printed.steps)
    .map(({ step, text, afterMs }) => `${secondsOf(afterMs).padStart(9)}  ${safe(stepText(step, text, restarted))}`);
  return {
    text: [...checks, ...happened].map((line) => `${line}\n`).join(""),
    printed: { checks: preflight.length, steps: steps.length },
  };
}

/**
 * What is said at the end: how long the clients of each database were held, against the forecast, and the outcome if it
 * is a good one. Another one is a finding.
 */
export function endLines(run: ShownRun): string {
  const { targets, forecastMs, text } = run;
  const held = targets.flatMap(({ pooler, database, heldMs }) =>
    heldMs === null ? [] : [`${pooler}/${database}: clients were held for ${secondsOf(heldMs)}`],
  );
  const forecast = held.length === 0 || forecastMs === null ? [] : [`the forecast was ${secondsOf(forecastMs)}`];
  const outcome = isGood(run) && text !== null ? [text] : [];
  return [...held, ...forecast, ...outcome].map((line) => `${safe(line)}\n`).join("");
}

/** Whether a run has ended well: the node that was asked for leads, and all clients go on there. */
export function isGood(run: ShownRun): boolean {
  return run.outcome === "dry_run" || (run.outcome !== "unfinished" && isSettledWell(run));
}

/** Whether the cluster has done what was asked for, whatever is left to do for poolers. */
export function isSettledWell(run: ShownRun): boolean {
  return run.settled === "restarted" || (run.settled === "switched" && isAsAsked(run));
}

/** Whether the new primary is the node that was asked for. A restart asks for none. */
export function isAsAsked({ candidate, node, restarted }: ShownRun): boolean {
  if (restarted !== null) return false;
  return candidate === null || node === null || candidate === node;
}

/** Whether nothing was changed by a run that did not end well: neither the leader nor anything that lasts. */
export function isUnchanged({ settled }: ShownRun): boolean {
  return settled === "refused" || settled === "aborted" || settled === "rejected";
}

function stepText(step: string, text: string | null, restarted: string | null): string {
  if (step === "requested" && restarted !== null) return `${step}: ${restarted} is asked to restart its database`;
  const known = stepTexts.get(step);
  if (step === "note") return text ?? "";
  if ((step === "writable" || step === "restarted") && text !== null) return `${step}: ${text} ${known}`;
  return [known === undefined ? step : `${step}: ${known}`, ...(text === null ? [] : [text])].join(": ");
}

function secondsOf(ms: number): string {
  return `${(ms / 1000).toFixed(3)} s`;
}
