import type { CommandContext } from "../../../core/command/framework/command-context.ts";
import type { IncidentFile } from "../file/incident-file.ts";
import { checkExpectations } from "../core/expectations.ts";
import { replayTimeline, type ReplayedChange } from "../core/timeline.ts";
import { CommandError } from "../../../core/command/framework/command-error.ts";
import { errorMessage } from "../../../core/cluster/values/error-message.ts";
import { safe } from "../../../core/command/output/style.ts";
import { parseIncidentSource, readIncidentSource } from "./incident-source.ts";

/** How many differing answers are findings of their own. */
const differingMax = 20;

/**
 * `rolecall incident replay FILE`: judges a recorded incident again, prints each change of a verdict and each event,
 * and compares the answers with those that the file expects (RC178).
 */
export async function replayIncident(context: CommandContext): Promise<void> {
  const { result, print } = context;
  const source = await readIncidentSource(context);
  const incident = parseIncidentSource(source);
  const { expected, differing } = checked(incident);
  const { changes, events, fromMs, toMs } = replayTimeline(incident);
  result.cover("evidence", "complete", { detail: source.name });
  for (const message of differing.slice(0, differingMax)) result.diagnose("RC178", { message });
  result.data = {
    file: source.name,
    name: incident.name,
    cluster: incident.cluster,
    began: incident.beganWallMs === null ? null : new Date(incident.beganWallMs).toISOString(),
    from_ms: fromMs,
    to_ms: toMs,
    expected,
    differing: differing.length,
    changes: changes.map(changeData),
    events: events.map((event) => ({ ...event, at: new Date(event.at).toISOString() })),
  };
  print(`${safe(incident.name)}\n${safe(incident.why)}\n\n`);
  const began = incident.beganWallMs ?? 0;
  const lines = [
    ...changes.map((change) => ({ atMs: change.atMs, text: changeText(change) })),
    ...events.map(({ at, message }) => ({ atMs: at - began, text: message })),
  ].toSorted((one, other) => one.atMs - other.atMs);
  for (const { atMs, text } of lines) print(`${instantText(atMs, incident)}  ${safe(text)}\n`);
  const kept = expected - differing.length;
  print(
    expected === 0 ? "\nThe file expects no answers.\n" : `\n${kept} of ${expected} expected answers were given.\n`,
  );
}

function checked(incident: IncidentFile): ReturnType<typeof checkExpectations> {
  try {
    return checkExpectations(incident);
  } catch (error) {
    throw new CommandError("RC179", errorMessage(error));
  }
}

/** A change with the fields of `/nodes/{node}/verdicts`. */
function changeData({ atMs, node, before, after, failure }: ReplayedChange): object {
  return { at_ms: atMs, node, before, after, failure };
}

function changeText({ node, before, after, failure }: ReplayedChange): string {
  const words = (["primary", "replica"] as const)
    .filter((route) => before?.[route] !== after[route])
    .map((route) => `/${route} ${before === null ? "" : `${before[route]} -> `}${after[route]}`);
  const role = before?.role === after.role ? [] : [`role ${after.role}`];
  const isContactChanged = before !== null && before.isReachable !== after.isReachable;
  const contact = isContactChanged ? [after.isReachable ? "answers again" : "does not answer"] : [];
  return `${node}: ${[...contact, ...role, ...words].join(", ")}${failure === null ? "" : ` (${failure})`}`;
}

function instantText(atMs: number, { beganWallMs }: IncidentFile): string {
  return beganWallMs === null
    ? `${(atMs / 1000).toFixed(3).padStart(9)} s`
    : new Date(beganWallMs + atMs).toISOString();
}
