import type { ListenerConfig } from "../../core/config/model/config.ts";
import type { AnswersFromMemory } from "../../core/feature/listener-api.ts";
import { clusterNamed, nodeNamed } from "../../core/cluster/lookup.ts";
import type { ExporterRole } from "../../core/cluster/exporter/exporter-report.ts";
import { clusterExporterRole, exporterRoleOf } from "../../core/health/documents/exporter-role.ts";
import { viewAt } from "../../core/health/evidence/leadership/cluster-view.ts";
import { answerSelf, type JudgeInputs } from "../../core/http/node-api/answer.ts";
import { rolePaths } from "../../core/cluster/exporter/role-paths.ts";
import { pathOf } from "./target-path.ts";
import { roleReply } from "./exporter-reply.ts";
import type { OnAnswer } from "../../core/http/node-api/node-api.ts";
import type { Reply } from "../../core/http/message/reply.ts";
import type { Request } from "../../core/http/message/request.ts";

/** What role requests are answered from. */
export interface ExporterRolesContext {
  readonly inputs: () => JudgeInputs;
  readonly onAnswer: OnAnswer;
}

/** Answers the role paths of the exporter API, `/livez` and `/readyz` from memory. */
export class ExporterRoles {
  readonly #scope: { readonly cluster: string; readonly node: string | null };
  readonly #context: ExporterRolesContext;

  /** @param scope the cluster, and the node, or `null` for the whole cluster */
  constructor(scope: { readonly cluster: string; readonly node: string | null }, context: ExporterRolesContext) {
    this.#scope = scope;
    this.#context = context;
  }

  /** @returns `null` for other paths */
  answer(request: Request): Reply | null {
    const path = pathOf(request.target);
    if (path === "/livez" || path === "/readyz")
      return answerSelf(path === "/livez" ? "livez" : "readyz", this.#context.inputs().unready());
    const role = path === null ? undefined : rolePaths.get(path);
    if (role === undefined) return null;
    const reply = roleReply(role, this.#state());
    this.#context.onAnswer(`exporter ${role}`, reply.status);
    return reply;
  }

  #state(): ExporterRole {
    const { cluster, node } = this.#scope;
    const { snapshot, policy: healthPolicy, nowMs } = this.#context.inputs();
    const state = clusterNamed(snapshot, cluster);
    const policy = healthPolicy(cluster);
    if (state === undefined || policy === undefined) return "unknown";
    const view = viewAt(state, policy, nowMs);
    if (node === null) return clusterExporterRole(view);
    const observation = nodeNamed(state, node);
    return observation === undefined ? "unknown" : exporterRoleOf(view, observation);
  }
}

/** Answers from memory on an exporter listener. */
export const answerRoles: AnswersFromMemory = ({ listener }, sources) => {
  const roles = new ExporterRoles(exporterScope(listener), sources);
  return (request) => roles.answer(request);
};

/** In a valid configuration every exporter listener has a cluster. */
export function exporterScope({ cluster, node }: ListenerConfig): {
  readonly cluster: string;
  readonly node: string | null;
} {
  return { cluster: cluster ?? "", node };
}
