import { isObject, parseJson, type JsonObject } from "../cluster/json.ts";
import type { Observation } from "../cluster/observation.ts";
import type { ClusterPart, Snapshot } from "../cluster/snapshot.ts";
import { isFresh } from "../health/freshness.ts";
import type { Settings } from "../health/settings.ts";
import { look, type Sight } from "../health/sight.ts";
import { summarize, type Summary } from "../health/summary.ts";
import { labelsText } from "./text-page.ts";

/** One node as a scrape shows it. */
export interface NodeView {
  readonly sight: Sight;
  readonly observation: Observation;
  readonly summary: Summary;
  /** `cluster="demo",node="pg1"`. */
  readonly labels: string;
  /** The labels of a node's own metrics, `scope` and `name`, with ours beside them: two clusters may share a scope. */
  readonly managerLabels: string;
  /** What the node said, while it may be believed; `null` for a node that is down or has gone stale. */
  readonly document: JsonObject | null;
  /** What the node said last, however long ago. */
  readonly lastDocument: JsonObject | null;
  readonly cluster: ClusterView;
}

/** What the documents of a cluster say that its nodes do not. */
export interface ClusterView {
  readonly isFailsafeEnabled: boolean | null;
  /** Names of the members of failsafe; `null` where it is not known. */
  readonly failsafeMembers: ReadonlySet<string> | null;
}

/** What nodes are seen by. */
export interface ViewSources {
  readonly snapshot: () => Snapshot;
  readonly settings: (cluster: string) => Settings | undefined;
  /** Our clock, in ms. */
  readonly now: () => number;
}

/** Every node of every cluster, of one snapshot and one instant. Each is made when it is asked for, so that a scrape can pause between them. */
export function* viewNodes({ snapshot, settings, now }: ViewSources): Generator<NodeView> {
  const { parts } = snapshot();
  const nowMs = now();
  for (const part of parts) {
    const settled = settings(part.name);
    if (settled === undefined) continue;
    const sight = look(part, settled, nowMs);
    const cluster = viewCluster(part);
    for (const observation of part.nodes) yield viewNode(sight, observation, cluster);
  }
}

function viewNode(sight: Sight, observation: Observation, cluster: ClusterView): NodeView {
  const { report, node } = observation;
  const isBelieved = report !== null && !observation.isDown && isFresh(observation, sight.maxAgeMs, sight.nowMs);
  const document = report === null ? null : parseJson(`${report.document}}`);
  const lastDocument = isObject(document) ? document : null;
  const ours = { cluster: sight.part.name, node: node.name };
  return {
    sight,
    observation,
    summary: summarize(sight, observation),
    labels: labelsText(ours),
    managerLabels: labelsText({ scope: report?.scope ?? sight.part.scope ?? sight.part.name, name: report?.name ?? node.member, ...ours }),
    document: isBelieved ? lastDocument : null,
    lastDocument,
    cluster,
  };
}

function viewCluster({ documents }: ClusterPart): ClusterView {
  const { config, failsafe } = documents;
  const configured = config === null || config.status !== 200 ? undefined : parseJson(config.body);
  const members = failsafe === null ? undefined : failsafe.status === 200 ? parseJson(failsafe.body) : {};
  return {
    isFailsafeEnabled: isObject(configured) ? configured["failsafe_mode"] === true : null,
    failsafeMembers: isObject(members) ? new Set(Object.keys(members)) : null,
  };
}
