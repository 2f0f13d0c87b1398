import { ExporterRoles } from "../../http/exporter-api/exporter-roles.js";
import { isHintCall } from "../../http/admin-api/hint-api.js";
import { isReload } from "../../http/message/exporter-paths.js";
import { listenerDirectory } from "../../http/node-api/listener-directory.js";
import { nodeHandler } from "../../http/node-api/node-handler.js";
/** Builds the handler of one listener: the one place that knows which API a listener speaks, in every process. */
export function buildListenerHandler({ listener, config }, sources, backend) {
    switch (listener.dialect) {
        case "agent":
            throw new Error("Cannot build a handler: agent listeners speak no HTTP");
        case "admin":
            return Object.assign((call) => backend.admin(call), { isHint: isHintCall });
        case "exporter":
            return exporterHandler({ listener, config }, sources, backend);
        case "node":
            return nodeHandler(listener, config, {
                inputs: sources.inputs,
                snapshot: sources.snapshot,
                now: sources.now,
                operator: backend.diagnostics,
                passthrough: backend.passthrough,
                onAnswer: sources.onAnswer,
                listeners: listenerDirectory(listener, config.listen, sources.portOf),
            });
    }
}
function exporterHandler({ listener, config }, sources, { exporter }) {
    const roles = new ExporterRoles({ cluster: exporterCluster(listener), node: listener.node }, sources);
    const handler = async (call) => roles.answer(call.request) ?? exporter(call);
    const { telemetryPath } = config.exporter;
    return Object.assign(handler, { changes: ({ target }) => isReload(target, telemetryPath) });
}
/** The cluster of an exporter listener. The configuration is checked: every exporter listener has one. */
export function exporterCluster({ cluster }) {
    return cluster ?? "";
}
//# sourceMappingURL=listener-handler.js.map