import { strayOf } from "../../health/evidence/leadership/stray-primary.ts";
import { companionState } from "../../health/evidence/node/companions.ts";
import { disagreement } from "../../health/evidence/leadership/exporter-disagreement.ts";
import { acceptedPrimary } from "../../health/rules/accepted-primary.ts";
import { shownLag } from "../../health/evidence/position/present-lag.ts";
import type { ProbeStat } from "../collectors/probe-stats.ts";
import type { NodeSeries } from "./node-series.ts";
import { labelsText, sampleLine, type Family } from "../../exposition/writer.ts";

/** The checks whose verdicts are shown. */
const checks = ["primary", "replica"] as const;

/** Our own metrics of each node: age, reachability, role, lag, and fitness with the reason. */
export function nodeMetrics(nodes: readonly NodeSeries[]): readonly Family[] {
  return [
    family(
      nodes,
      { name: "rolecall_node_age_seconds", help: "Age of the node's last report." },
      ({ view, observation, labels }) =>
        observation.report === null ? [] : [[labels, (view.nowMs - observation.sentAtMs) / 1000]],
    ),
    family(
      nodes,
      { name: "rolecall_node_up", help: "1 if the node answered its last probe." },
      ({ summary, labels }) => [[labels, summary.isReachable ? 1 : 0]],
    ),
    family(nodes, { name: "rolecall_node_lag_bytes", help: "Replay lag behind the leader, where known." }, (series) =>
      lag(series, ({ bytes }) => bytes),
    ),
    family(
      nodes,
      { name: "rolecall_node_lag_seconds", help: "Replay lag in time, from our own samples; rounded up." },
      (series) => lag(series, ({ timeMs }) => (timeMs === null ? null : timeMs / 1000)),
    ),
    family(
      nodes,
      {
        name: "rolecall_node_role",
        help: "1 for the role the node has: a primary is the accepted one, stray_primary a running one beside it.",
      },
      (series) => {
        const role = roleOf(series);
        return role === null ? [] : [[`${series.labels},${labelsText({ role })}`, 1]];
      },
    ),
    family(
      nodes,
      {
        name: "rolecall_node_fit",
        help: "1 where the node is fit for a plain /primary or /replica (label check), else 0.",
      },
      ({ summary, labels }) =>
        checks.map((check) => [`${labels},${labelsText({ check })}`, summary[check] === "fit" ? 1 : 0]),
    ),
    family(
      nodes,
      {
        name: "rolecall_node_unfit_reason",
        help: "1 for the reason why the node is not fit for a plain /primary or /replica (label check).",
      },
      ({ summary, labels }) =>
        checks.flatMap((check) => {
          const reason = summary[check];
          return reason === "fit" ? [] : [[`${labels},${labelsText({ check, reason })}`, 1] as const];
        }),
    ),
    companionsUp(nodes),
    exportersDisagree(nodes),
  ];
}

/** Whether the companions of each node answer. */
function companionsUp(nodes: readonly NodeSeries[]): Family {
  return family(
    nodes,
    {
      name: "rolecall_companion_up",
      help: "1 while the companion of the node answers, such as its pooler. No sample before its first check.",
    },
    ({ view, observation, labels }) =>
      [...observation.companions].map(([companion, evidence]) => [
        `${labels},${labelsText({ companion })}`,
        companionState(evidence, view.policy, view.nowMs) === "up" ? 1 : 0,
      ]),
  );
}

/** Whether a second source contradicts a node. */
function exportersDisagree(nodes: readonly NodeSeries[]): Family {
  return family(
    nodes,
    {
      name: "rolecall_exporter_disagrees",
      help: "1 while the node's exporter reports another role than its API. No verdict depends on it.",
    },
    ({ view, observation, labels }) =>
      observation.node.api === null || observation.node.exporter === null
        ? []
        : [[labels, disagreement(view, observation) === null ? 0 : 1]],
  );
}

/** How probes ended, by node and endpoint. */
export function probeMetrics(stats: Iterable<ProbeStat>): readonly Family[] {
  const name = "rolecall_probes_total";
  return [
    {
      name,
      type: "counter",
      help: "Probes of a node by question (the endpoint) and outcome.",
      samples: () => samples(stats),
    },
  ];

  function* samples(rows: Iterable<ProbeStat>): Iterable<string> {
    for (const { cluster, node, endpoint, outcomes } of rows) {
      for (const [outcome, count] of outcomes)
        yield sampleLine(name, labelsText({ cluster, node, question: endpoint, outcome }), count);
    }
  }
}

type Samples = readonly (readonly [labels: string, value: number])[];

function family(
  nodes: readonly NodeSeries[],
  { name, help }: { readonly name: string; readonly help: string },
  samplesOf: (series: NodeSeries) => Samples,
): Family {
  function* samples(): Iterable<string> {
    for (const series of nodes) {
      yield samplesOf(series)
        .map(([labels, value]) => sampleLine(name, labels, value))
        .join("");
    }
  }
  return { name, type: "gauge", help, samples };
}

/** The role that a node has now; `null` if it has none: at most one node of a cluster leads. */
function roleOf({ view, observation, summary, isPresent }: NodeSeries): string | null {
  if (!isPresent) return null;
  if (strayOf(view, observation)?.isConfirmed === true) return "stray_primary";
  const leads = summary.role === "primary" || summary.role === "standby_leader";
  return !leads || acceptedPrimary(view) === observation ? summary.role : null;
}

/** The lag in the last report of a node that is down is not its lag. */
function lag(
  { view, observation, labels, isPresent }: NodeSeries,
  of: (lag: ReturnType<typeof shownLag>) => number | null,
): Samples {
  const value = isPresent ? of(shownLag(view, observation)) : null;
  return value === null ? [] : [[labels, value]];
}
