import type { Config } from "../../../core/config/model/config.ts";
import type { ClusterView } from "../../../core/health/evidence/leadership/cluster-view.ts";
import { candidateLines } from "./candidate-lines.ts";
import { clusterLines, unknownClusterLine } from "./cluster-lines.ts";
import { stateFileLine } from "./guard-lines.ts";
import { leaderLine } from "./leader-lines.ts";
import { isFileWritten } from "./pooler-setup.ts";
import { concluded, type Preflight } from "./preflight-line.ts";

/**
 * Whether clients are held while a leader stops that somebody else stops: there is time for what is known already, and
 * for no question to a pooler. Without a node that can take over, clients would only wait.
 * @param view the evidence now; `null`: the cluster is not monitored
 */
export function announcedPreflight(
  view: ClusterView | null,
  about: {
    readonly cluster: string;
    readonly leader: string | null;
    readonly config: Pick<Config, "poolers" | "stateFile">;
  },
): Preflight {
  if (view === null) return concluded([unknownClusterLine(about.cluster)], null);
  const lines = [
    leaderLine(view, about.leader, "announced"),
    ...candidateLines(view, null, isFileWritten(about.config.poolers, about.cluster)),
    ...clusterLines(view),
    stateFileLine(about.config),
  ];
  return concluded(lines, null);
}
