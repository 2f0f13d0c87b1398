import { relay } from "../../gateway/relay.js";
import { exporterPageOf } from "../../http/message/exporter-paths.js";
import { operatorPageOf } from "../../http/node-api/diagnostics-paths.js";
import { scrapesMax, servePage } from "../../http/pages/page.js";
/**
 * Builds the backend of one listener in a worker: it relays to the main process. Pages go through the worker's page
 * gate first, so that the main process, which renders them, is not flooded through its workers.
 */
export function buildWorkerBackend({ gate, relayAddress, key, telemetryPath }) {
    const relayToMain = (call) => relay(call, { ...relayAddress(), listener: key });
    const relayCall = (call) => relayToMain(call).then(() => null);
    const relayPage = (name, atOnce, call) => servePage({ gate, name, atOnce, render: () => relayCall(call) }, call);
    return {
        passthrough: { manage: (_, call) => relayToMain(call), fetch: (_, call) => relayToMain(call) },
        admin: relayCall,
        diagnostics: (call) => relayPage(operatorPageOf(call.request.target), 1, call),
        exporter: (call) => {
            const page = exporterPageOf(call.request.target, telemetryPath);
            if (page === null)
                return relayCall(call);
            // All waiting scrapes of the metrics share one rendering.
            return relayPage(`exporter ${page}`, page === "metrics" ? scrapesMax : 1, call);
        },
    };
}
//# sourceMappingURL=worker-backend.js.map