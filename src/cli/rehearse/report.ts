import { formatDuration } from "../output/figures.ts";
import { safe, type Style } from "../output/style.ts";
import { table, type Cell } from "../output/table.ts";
import { wrapWords } from "../output/words.ts";
import { stepMs } from "./measure/advice.ts";
import type { OutagePhase } from "./measure/phases.ts";
import type { RehearsalPlan } from "./plan.ts";
import type { Rehearsed } from "./rehearsal.ts";
import type { RehearsalSummary } from "./summary.ts";

/** The width of the text below the tables. */
const textWidth = 100;
/** The most causes of failed writes, and lost writes, that are listed. */
const listMax = 5;

/** Renders what was measured, for people. */
export function renderRehearsal(
  plan: RehearsalPlan,
  rehearsed: Rehearsed,
  { summary, style }: { readonly summary: RehearsalSummary; readonly style: Style },
): string {
  return [
    `\n${style.bold(outageLine(plan, rehearsed, summary))}\n\n`,
    phaseTable(plan, rehearsed, summary),
    "Times count from the request. Each change may have happened earlier, by at most its resolution.\n",
    sincePromotion(summary),
    "\n",
    writesText(summary, rehearsed),
    "\n",
    adviceText(summary, rehearsed, style),
  ].join("");
}

/** The outage in one line. */
export function outageLine(
  { cluster, leader, options }: RehearsalPlan,
  { recording, request }: Rehearsed,
  { outage, phases }: RehearsalSummary,
): string {
  const what = options.cause.kind === "kill" ? `kill of ${leader}` : `switchover from ${leader}`;
  const to = phases.find(({ phase, node }) => phase === "promoted" && node !== null)?.node;
  const title = safe(`${cluster.cluster}: ${what}${to === undefined || to === null ? "" : ` to ${to}`}`);
  if (outage === null) return `${title}: the outage is not known`;
  if (request.problem !== null)
    return `${title} was not done; the longest time without a write was ${seconds(outage.outageMs)}`;
  return `${title}: no writes for ${seconds(outage.outageMs)} (a write every ${milliseconds(recording.writeIntervalMs)})`;
}

/** The figures that do not depend on the database's own work. */
function sincePromotion({ phases }: RehearsalSummary): string {
  const [yes, write] = [stepMs(phases, "promoted", "first_yes"), stepMs(phases, "promoted", "first_write")];
  if (yes === null || write === null) return "";
  return `After the promotion: ${milliseconds(yes)} until rolecall accepted the new primary, ${milliseconds(write)} until the first write.\n`;
}

function phaseTable(
  plan: RehearsalPlan,
  { recording, endedAfterMs, missing }: Rehearsed,
  summary: RehearsalSummary,
): string {
  const { phases, outage } = summary;
  const last = outage === null ? null : outage.lastWriteAtMs - recording.requestedAtMs;
  const lead: Row[] = [
    { atMs: 0, text: plan.options.cause.kind === "kill" ? "the kill command started" : "the switchover was requested" },
    ...(last === null ? [] : [{ atMs: last, text: "last write of the old primary", resolution: "exact" }]),
  ];
  const seen = phases.map((phase): Row => rowOf(phase, plan.leader));
  const end: Row = {
    atMs: missing === null ? endedAfterMs : null,
    text: "the cluster has recovered",
    resolution: "500 ms",
  };
  const rows = [...lead, ...seen, end].toSorted((one, other) => (one.atMs ?? Infinity) - (other.atMs ?? Infinity) || 0);
  const cells = rows.map((row, at): readonly Cell[] => {
    const previous = rows[at - 1]?.atMs ?? null;
    const step = row.atMs === null || previous === null ? "" : `+${milliseconds(row.atMs - previous)}`;
    return [
      { text: row.atMs === null ? "not seen" : milliseconds(row.atMs) },
      { text: step },
      { text: row.text },
      { text: row.resolution ?? "" },
      { text: row.source ?? "" },
    ];
  });
  return table(["TIME", "STEP", "WHAT", "RESOLUTION", "SEEN BY"], cells, ["TIME", "STEP", "RESOLUTION"]);
}

interface Row {
  readonly atMs: number | null;
  readonly text: string;
  readonly resolution?: string;
  readonly source?: string;
}

function rowOf({ phase, node, afterRequestMs, resolutionMs, source }: OutagePhase, leader: string): Row {
  const name = node ?? "a node";
  const texts = {
    demoted: `demoted: ${leader} takes no writes`,
    withdrawn: `rolecall refuses ${leader} as a primary`,
    promoted: `promoted: ${name} takes writes`,
    first_yes: `rolecall accepts ${name} as a primary`,
    switched: "balancer switched: the pool reaches the new primary",
    first_write: "first write of the new primary",
  };
  const sources = {
    recovery: "pg_is_in_recovery()",
    document: "document of the node",
    answer: "GET /primary",
    write: "write through the pool",
  };
  const resolution = resolutionMs === null ? {} : { resolution: milliseconds(resolutionMs) };
  return { atMs: afterRequestMs, text: texts[phase], source: sources[source], ...resolution };
}

function writesText({ tally, names, lateWrites }: RehearsalSummary, { skippedWrites }: Rehearsed): string {
  const { acknowledged, failed, uncertain, uncertainPresent, lost, causes, servers } = tally;
  const present = uncertainPresent === null || uncertain === 0 ? "" : ` (${uncertainPresent} of them committed)`;
  const losses = lost === null ? "losses not known: the table could not be read" : `${lost.length} lost`;
  const skipped = skippedWrites > 0 ? `, ${skippedWrites} skipped because too many were in flight` : "";
  const lines = [
    `Writes: ${acknowledged} acknowledged, ${failed} failed, ${uncertain} uncertain${present}, ${losses}${skipped}.`,
    ...(lost !== null && lost.length > 0
      ? [`  lost: numbers ${lost.slice(0, listMax).join(", ")}${lost.length > listMax ? ", …" : ""}`]
      : []),
    ...(lateWrites > 0 ? [`  acknowledged by the old primary after the promotion: ${lateWrites}`] : []),
    ...causes.slice(0, listMax).map(({ cause, count }) => `  ${count} × ${safe(cause)}`),
    "Servers reached through the pool:",
    ...servers.map(({ address, timeline, isInRecovery, acknowledged: done, notAcknowledged, pids }) => {
      const name = names.get(address);
      const role = isInRecovery ? "in recovery" : `timeline ${timeline ?? "unknown"}`;
      const refused = notAcknowledged === 0 ? "" : `, ${notAcknowledged} not`;
      return `  ${safe(address)}${name === undefined ? "" : ` (${safe(name)})`}, ${role}: ${done} acknowledged${refused}, backends ${pids.join(", ")}`;
    }),
  ];
  return lines
    .map((line) => `${wrapWords(line, textWidth, 2).join("\n")}\n`.replace(/^/, /^ */.exec(line)?.[0] ?? ""))
    .join("");
}

function adviceText({ advice }: RehearsalSummary, { missing }: Rehearsed, style: Style): string {
  if (advice.length === 0) return missing === null ? "Nothing in these figures suggests a change.\n" : "";
  const items = advice.map(({ message, action }) => {
    const [first = "", ...rest] = wrapWords(`${message} ${action}`, textWidth - 2);
    return `- ${[first, ...rest].join("\n  ")}\n`;
  });
  return `${style.bold("What would help:")}\n${items.join("")}`;
}

function seconds(ms: number): string {
  return ms < 10_000 ? `${(ms / 1_000).toFixed(2)} s` : formatDuration(ms);
}

function milliseconds(ms: number): string {
  return `${Math.round(ms)} ms`;
}
