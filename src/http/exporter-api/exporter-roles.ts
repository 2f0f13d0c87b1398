import { clusterNamed, nodeNamed } from "../../cluster/lookup.ts";
import type { ExporterRole } from "../../cluster/exporter/exporter-report.ts";
import { clusterExporterRole, exporterRoleOf } from "../../health/explain/exporter-role.ts";
import { viewAt } from "../../health/evidence/cluster-view.ts";
import { answerSelf, type JudgeInputs } from "../node-api/answer.ts";
import { pathOf, rolePaths } from "../message/exporter-paths.ts";
import { roleReply } from "./exporter-reply.ts";
import type { OnAnswer } from "../node-api/node-api.ts";
import type { Reply } from "../message/reply.ts";
import type { Request } from "../message/request.ts";

/** What the roles are answered from. */
export interface ExporterRolesContext {
  readonly inputs: () => JudgeInputs;
  readonly onAnswer: OnAnswer;
}

/** Answers the role paths of the exporter dialect, and of our own health, from memory alone. */
export class ExporterRoles {
  readonly #bound: { readonly cluster: string; readonly node: string | null };
  readonly #sources: ExporterRolesContext;

  /** @param bound the cluster, and the node or `null` for the cluster as a whole */
  constructor(bound: { readonly cluster: string; readonly node: string | null }, sources: ExporterRolesContext) {
    this.#bound = bound;
    this.#sources = sources;
  }

  /** @returns `null` where the path is none of these */
  answer(request: Request): Reply | null {
    const path = pathOf(request.target);
    if (path === "/livez" || path === "/readyz")
      return answerSelf(path === "/livez" ? "livez" : "readyz", this.#sources.inputs().unready());
    const question = path === null ? undefined : rolePaths.get(path);
    if (question === undefined) return null;
    const reply = roleReply(question, this.#state());
    this.#sources.onAnswer(`exporter ${question}`, reply.status);
    return reply;
  }

  #state(): ExporterRole {
    const { cluster, node } = this.#bound;
    const { snapshot, policy: healthPolicy, nowMs } = this.#sources.inputs();
    const state = clusterNamed(snapshot, cluster);
    const policy = healthPolicy(cluster);
    if (state === undefined || policy === undefined) return "unknown";
    const view = viewAt(state, policy, nowMs);
    if (node === null) return clusterExporterRole(view);
    const observation = nodeNamed(state, node);
    return observation === undefined ? "unknown" : exporterRoleOf(view, observation);
  }
}
