import { clusterNamed, nodeNamed } from "../../cluster/lookup.js";
import { clusterExporterRole, exporterRoleOf } from "../../health/explain/exporter-role.js";
import { viewAt } from "../../health/evidence/cluster-view.js";
import { answerSelf } from "../node-api/answer.js";
import { pathOf, rolePaths } from "../message/exporter-paths.js";
import { roleReply } from "./exporter-reply.js";
/** Answers the role paths of the exporter API, `/livez` and `/readyz` from memory. */
export class ExporterRoles {
    #scope;
    #context;
    /** @param scope the cluster, and the node, or `null` for the whole cluster */
    constructor(scope, context) {
        this.#scope = scope;
        this.#context = context;
    }
    /** @returns `null` for other paths */
    answer(request) {
        const path = pathOf(request.target);
        if (path === "/livez" || path === "/readyz")
            return answerSelf(path === "/livez" ? "livez" : "readyz", this.#context.inputs().unready());
        const role = path === null ? undefined : rolePaths.get(path);
        if (role === undefined)
            return null;
        const reply = roleReply(role, this.#state());
        this.#context.onAnswer(`exporter ${role}`, reply.status);
        return reply;
    }
    #state() {
        const { cluster, node } = this.#scope;
        const { snapshot, policy: healthPolicy, nowMs } = this.#context.inputs();
        const state = clusterNamed(snapshot, cluster);
        const policy = healthPolicy(cluster);
        if (state === undefined || policy === undefined)
            return "unknown";
        const view = viewAt(state, policy, nowMs);
        if (node === null)
            return clusterExporterRole(view);
        const observation = nodeNamed(state, node);
        return observation === undefined ? "unknown" : exporterRoleOf(view, observation);
    }
}
//# sourceMappingURL=exporter-roles.js.map