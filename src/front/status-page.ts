import { clusterHead, nodeOverview } from "../health/overview.ts";
import { look } from "../health/sight.ts";
import type { OperatorSources } from "./operator.ts";
import { renderSliced, type Rendering } from "./page.ts";
import type { Reply } from "./reply.ts";

type StatusSources = Pick<OperatorSources, "snapshot" | "settings" | "now">;

/**
 * `/status`: every cluster that the listener may speak of, and its nodes with what each is fit for, as `Overview` has it.
 * @param only names of clusters: where one is named, others are left out
 */
export function statusReply(only: readonly (string | null)[], sources: StatusSources, rendering: Rendering): Promise<Reply | null> {
  return renderSliced(statusPieces(only, sources), rendering, ["Content-Type", "application/json"]);
}

function* statusPieces(only: readonly (string | null)[], { snapshot, settings, now }: StatusSources): Generator<string> {
  const { instance, sequence, parts } = snapshot();
  const nowMs = now();
  yield `${JSON.stringify({ instance, snapshot: sequence }).slice(0, -1)},"clusters":[`;
  let separator = "";
  for (const part of parts) {
    const judged = only.every((cluster) => cluster === null || part.name === cluster) ? settings(part.name) : undefined;
    if (judged === undefined) continue;
    const sight = look(part, judged, nowMs);
    yield `${separator}${JSON.stringify(clusterHead(sight)).slice(0, -1)},"nodes":[`;
    separator = ",";
    let comma = "";
    for (const observation of part.nodes) {
      yield `${comma}${JSON.stringify(nodeOverview(sight, observation))}`;
      comma = ",";
    }
    yield "]}";
  }
  yield "]}";
}
