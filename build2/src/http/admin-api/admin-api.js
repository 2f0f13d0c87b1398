import { answerDiagnostics, isDiagnosticsTarget } from "../diagnostics/diagnostics-api.js";
import { errorReply, methodNotAllowed } from "../message/reply.js";
import { safeMethods, safeMethodsAllowed } from "../message/request.js";
import { parseRequestTarget } from "../message/request-target.js";
import { answerSelf } from "../node-api/answer.js";
import { diagnosticsPaths } from "../node-api/diagnostics-paths.js";
import { scrapesMax, servePage } from "../pages/page.js";
import { answerHint, isHintCall, isHintPath } from "./hint-api.js";
import { answerDrainRequest } from "./drains-api.js";
/**
 * Answers a request of an admin listener: `/metrics`, `/snapshot`, `/drains`, `/hint`, `/livez`, `/readyz` and the
 * diagnostics pages.
 * @returns `null` if the response is written
 */
export async function answerAdminRequest(call, { scope, ...sources }) {
    const { request, message } = call;
    if (isHintCall(request))
        return answerHint(call, scope.cluster, sources.hints);
    if (isHintPath(request.target))
        return methodNotAllowed(request.method, "POST");
    if (isDiagnosticsTarget(request.target))
        return answerDiagnostics(call, scope, sources.operator);
    const target = parseRequestTarget(request.target);
    const isBare = !("problem" in target) && target.cluster === null && target.node === null;
    const path = isBare ? target.path : "";
    if (path === "drains" || path.startsWith("drains/"))
        return answerDrainRequest(path, message, sources.drains);
    if (path !== "metrics" && path !== "livez" && path !== "readyz" && path !== "snapshot") {
        return errorReply(404, "not_found", {
            message: `Cannot find ${request.target}: an admin listener has /metrics, /snapshot, /drains, /hint, /livez, /readyz, ${diagnosticsPaths.join(", ")}`,
        });
    }
    if (!safeMethods.includes(request.method))
        return methodNotAllowed(request.method, safeMethodsAllowed);
    if (isBare && path === "snapshot")
        return sources.snapshots.answer(target.query, message.socket);
    if (path === "livez" || path === "readyz")
        return answerSelf(path, sources.unready(), sources.listeners(message));
    const render = () => metricsReply(sources);
    return servePage({ gate: sources.operator.gate, name: "metrics", atOnce: scrapesMax, render }, call);
}
async function metricsReply({ metrics }) {
    const { pieces, contentType } = await metrics();
    const headers = ["Cache-Control", "no-store", "Content-Type", contentType];
    return { status: 200, phrase: "OK", headers, body: Buffer.alloc(0), pieces };
}
//# sourceMappingURL=admin-api.js.map