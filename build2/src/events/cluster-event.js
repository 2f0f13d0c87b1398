/** An event: something that happened to a cluster or a node and that a person on call wants to know. */
export const eventKinds = [
    "primary_lost",
    "primary_found",
    "timeline_back",
    "claims_conflict",
    "claims_resolved",
    "detached",
    "diverged",
    "stalled",
    "attached",
    "node_down",
    "node_up",
    "degraded",
    "restored",
    "blind",
    "blind_ended",
    "paused",
    "resumed",
    "failsafe",
    "failsafe_ended",
    "dcs_lost",
    "dcs_restored",
    "dcs_distrusted",
    "dcs_trusted",
    "drained",
    "undrained",
    "node_joined",
    "node_left",
];
/** Severities, the lowest first. */
export const eventSeverities = ["info", "warning", "error"];
//# sourceMappingURL=cluster-event.js.map