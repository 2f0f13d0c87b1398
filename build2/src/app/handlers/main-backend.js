import { answerAdminRequest } from "../../http/admin-api/admin-api.js";
import { answerDiagnostics } from "../../http/diagnostics/diagnostics-api.js";
import { listenerDirectory } from "../../http/node-api/listener-directory.js";
import { scopeOf } from "../../http/node-api/node-handler.js";
import { buildExporterApi } from "./exporter-pages.js";
import { findEvidence } from "./find-evidence.js";
/** Builds the backend of one listener in the main process. */
export function buildMainBackend({ listener, config }, sources, context) {
    const { eventLog, history, gateway, metrics, drains, hints, snapshots, gate, wall } = context;
    const scope = scopeOf(listener, config);
    const diagnostics = {
        gate,
        snapshot: sources.snapshot,
        policy: sources.policy,
        now: sources.now,
        wall,
        changes: (cluster, node) => eventLog.changes(cluster, node),
        evidence: (time, rendering) => findEvidence({ eventLog, history }, time, rendering),
        events: () => eventLog.events.recent(),
        storedEvents: (query, { turn, signal }) => history.readEvents(query, { signal, charge: (ms) => turn.charge(ms) }),
    };
    const admin = {
        scope,
        unready: sources.unready,
        operator: diagnostics,
        metrics: () => metrics.render(),
        drains,
        snapshots,
        hints: { ...hints, snapshot: sources.snapshot },
        listeners: listenerDirectory(listener, config.listen, sources.portOf),
    };
    const counted = { ...diagnostics, onAnswer: (status) => sources.onAnswer("operator", status) };
    const exporter = listener.dialect === "exporter" ? buildExporterApi({ listener, config }, sources, context) : null;
    return {
        passthrough: gateway,
        admin: (call) => answerAdminRequest(call, admin),
        diagnostics: (call) => answerDiagnostics(call, scope, counted),
        exporter: (call) => {
            if (exporter === null)
                throw new Error("Cannot answer: the listener must speak the exporter API");
            return exporter.handle(call);
        },
    };
}
//# sourceMappingURL=main-backend.js.map