import { clusterHead, nodeOverview } from "../../health/documents/overview.ts";
import { viewAt } from "../../health/evidence/leadership/cluster-view.ts";
import type { DiagnosticsSources } from "./diagnostics-sources.ts";
import { renderSliced, type RenderingContext } from "../pages/rendering.ts";
import type { Reply } from "../message/reply.ts";

type StatusSources = Pick<DiagnosticsSources, "snapshot" | "policy" | "now">;

/**
 * Answers `/status` with every cluster of the listener, and its nodes with what each is fit for (see `Overview`).
 * @param only cluster names: if one is not `null`, other clusters are left out
 */
export function statusPageReply(
  only: readonly (string | null)[],
  sources: StatusSources,
  rendering: RenderingContext,
): Promise<Reply | null> {
  return renderSliced(statusPieces(only, sources), rendering, ["Content-Type", "application/json"]);
}

function* statusPieces(only: readonly (string | null)[], { snapshot, policy, now }: StatusSources): Generator<string> {
  const { instance, sequence, clusters } = snapshot();
  const nowMs = now();
  yield `${JSON.stringify({ instance, snapshot: sequence }).slice(0, -1)},"clusters":[`;
  let separator = "";
  for (const state of clusters) {
    const clusterPolicy = only.every((cluster) => cluster === null || state.name === cluster)
      ? policy(state.name)
      : undefined;
    if (clusterPolicy === undefined) continue;
    const view = viewAt(state, clusterPolicy, nowMs);
    yield `${separator}${JSON.stringify(clusterHead(view)).slice(0, -1)},"nodes":[`;
    separator = ",";
    let comma = "";
    for (const observation of state.nodes) {
      yield `${comma}${JSON.stringify(nodeOverview(view, observation))}`;
      comma = ",";
    }
    yield "]}";
  }
  yield "]}";
}
