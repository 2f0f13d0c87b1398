import type { ClusterView } from "../evidence/leadership/cluster-view.ts";
import { type ClusterCondition, isBeyondChecks } from "../conditions/cluster-condition.ts";
import { isOfWrites, type SituationInputs } from "../conditions/condition.ts";
import { tellCluster } from "../conditions/conditions.ts";
import type { NodeStanding } from "../conditions/node-standing.ts";
import { countText, spanText } from "../wording.ts";

/** What somebody on call has to know of a cluster. Texts are whole clauses without a full stop. */
export interface Situation {
  readonly condition: ClusterCondition;
  /** What is wrong: `no primary`; `null` while nothing is. */
  readonly wrong: string | null;
  /** Why, as far as rolecall knows. */
  readonly cause: string | null;
  /** Since when, as RFC 3339 in UTC, and for how many ms; `null` if that is not known. */
  readonly since: string | null;
  readonly for_ms: number | null;
  /** What balancers and their clients get. */
  readonly clients: string;
  /** What happens next without anybody's help. */
  readonly next: string | null;
  /** What to do. */
  readonly action: string | null;
}

/** Describes what is wrong with a cluster, for whom, since when, what follows and what to do. */
export function situationOf(view: ClusterView, inputs: SituationInputs): Situation {
  const { condition, wrong, cause, sinceMs, next, action, harm } = tellCluster(view, inputs) ?? nothing;
  const isKnown = sinceMs !== null && Number.isFinite(sinceMs);
  const forMs = isKnown ? Math.max(0, Math.round(view.nowMs - sinceMs)) : null;
  return {
    condition,
    wrong,
    cause,
    since: forMs === null ? null : new Date(inputs.wallMs - forMs).toISOString(),
    for_ms: forMs,
    // What comes first is of writes if anything is.
    clients: clientsOf(inputs, isBeyondChecks(condition) && harm !== undefined && isOfWrites(harm)),
    next,
    action,
  };
}

/** The first line of a situation: `no primary for 8.0 s: pg2 is down (connection refused)`; `ok` if nothing is wrong. */
export function headlineOf({ wrong, cause, for_ms: forMs }: Pick<Situation, "wrong" | "cause" | "for_ms">): string {
  if (wrong === null) return "ok";
  return `${wrong}${forMs === null ? "" : ` for ${spanText(forMs)}`}${cause === null ? "" : `: ${cause}`}`;
}

const nothing = {
  condition: "ok",
  wrong: null,
  cause: null,
  sinceMs: null,
  next: null,
  action: null,
  harm: undefined,
} as const;

/** The node that takes writes, or leads a standby cluster. */
function primaryOf(nodes: readonly NodeStanding[]): NodeStanding | undefined {
  return nodes.find(({ verdicts }) => verdicts["primary"] === "fit" || verdicts["standby-leader"] === "fit");
}

/** Where checks lead writes and reads, and whether anybody has seen that clients get there. */
function clientsOf(inputs: SituationInputs, doWritesFail: boolean): string {
  const { nodes, asked } = inputs;
  const primary = primaryOf(nodes);
  const writes = writesText(primary?.node ?? null, inputs, doWritesFail);
  const readers = nodes.filter(({ verdicts }) => verdicts["replica"] === "fit");
  const others = nodes.filter(({ node }) => node !== primary?.node).length;
  const plain = others === 0 ? [] : [`/replica: ${readers.length} of ${countText(others, "node")}`];
  const limited = asked.map(({ text, check: { zones }, pool }) => {
    const fit = readers.filter(({ refused }) => refused.every(({ check }) => check !== text));
    const local = fit.filter(({ zone }) => zone !== null && zones.includes(zone));
    return `${pool ?? text}: ${local.length === 0 ? fit.length : local.length} of ${others}`;
  });
  return [writes, ...plain, ...limited].join("; ");
}

/**
 * Only the audit and canaries see clients: these may get where checks lead nobody. Checks say where these are led to. While
 * they refuse writes, routes that are as they should be say nothing: a pooler still leads to the last primary.
 * @param primary `null`: checks refuse writes
 */
function writesText(primary: string | null, { brought }: SituationInputs, doWritesFail: boolean): string {
  const seen = brought === undefined ? [] : brought.seen;
  const texts = seen?.filter((one) => primary !== null || one.of === "tries").map(({ text }) => text);
  const seenText = texts === undefined ? "" : ` (${texts.length === 0 ? "not tried" : texts.join("; ")})`;
  if (primary === null) return `checks refuse writes${seenText}`;
  return `checks lead writes to ${primary}${doWritesFail ? ", where they fail or wait" : ""}${seenText}`;
}

/** A situation in five lines, for somebody on call: what is wrong, since when, what clients get, what follows, what to do. */
export function situationLines({
  wrong,
  cause,
  since,
  for_ms: forMs,
  clients,
  next,
  action,
}: Omit<Situation, "condition">): readonly string[] {
  const rows: readonly (readonly [string, string | null])[] = [
    ["wrong", wrong === null ? "nothing" : `${wrong}${cause === null ? "" : `: ${cause}`}`],
    ["since", forMs === null ? (wrong === null ? "-" : "not known") : `${since} (${spanText(forMs)})`],
    ["clients", clients],
    ["next", next ?? "-"],
    ["do", action ?? "-"],
  ];
  return rows.map(([label, text]) => `${`${label}:`.padEnd(9)}${text}`);
}
