import { labelsText, sampleLine } from "../exposition/writer.js";
const name = "rolecall_certificate_expiry_timestamp_seconds";
/** When the certificates expire that rolecall presents. */
export function certificateMetrics(readings) {
    return {
        name,
        type: "gauge",
        help: "When the certificate of a listener, or the one presented to a cluster's nodes (usage client), expires.",
        samples: () => readings.map(({ usage, owner, file, expiresAtS }) => {
            const labels = usage === "listener" ? { usage, listener: owner, file } : { usage, cluster: owner, file };
            return sampleLine(name, labelsText(labels), expiresAtS);
        }),
    };
}
//# sourceMappingURL=certificate-metrics.js.map