import type { ExporterWord } from "../cluster/exporter-report.ts";
import { clusterRoleState, roleState } from "../health/role-state.ts";
import { look } from "../health/sight.ts";
import { answerSelf, type Evidence } from "./answer.ts";
import { pathOf, rolePaths } from "./exporter-paths.ts";
import { roleReply } from "./exporter-reply.ts";
import type { OnAnswer } from "./node-dialect.ts";
import type { Reply } from "./reply.ts";
import type { Request } from "./request.ts";

/** What the roles are answered from. */
export interface RoleSources {
  readonly evidence: () => Evidence;
  readonly onAnswer: OnAnswer;
}

/** Answers the role paths of the exporter dialect, and of our own health, from memory alone. */
export class ExporterRoles {
  readonly #bound: { readonly cluster: string; readonly node: string | null };
  readonly #sources: RoleSources;

  /** @param bound the cluster, and the node or `null` for the cluster as a whole */
  constructor(bound: { readonly cluster: string; readonly node: string | null }, sources: RoleSources) {
    this.#bound = bound;
    this.#sources = sources;
  }

  /** @returns `null` where the path is none of these */
  answer(request: Request): Reply | null {
    const path = pathOf(request.target);
    if (path === "/livez" || path === "/readyz")
      return answerSelf(path === "/livez" ? "livez" : "readyz", this.#sources.evidence().unready());
    const question = path === null ? undefined : rolePaths.get(path);
    if (question === undefined) return null;
    const reply = roleReply(question, this.#state());
    this.#sources.onAnswer(`exporter ${question}`, reply.status);
    return reply;
  }

  #state(): ExporterWord {
    const { cluster, node } = this.#bound;
    const { snapshot, settings, nowMs } = this.#sources.evidence();
    const part = snapshot.parts[snapshot.index.get(cluster) ?? -1];
    const judged = settings(cluster);
    if (part === undefined || judged === undefined) return "unknown";
    const sight = look(part, judged, nowMs);
    if (node === null) return clusterRoleState(sight);
    const observation = part.nodes[part.index.get(node) ?? -1];
    return observation === undefined ? "unknown" : roleState(sight, observation);
  }
}
