import { stringify } from "yaml";
import { clusterAlerts } from "./cluster-alerts.js";
import { instanceAlerts } from "./instance-alerts.js";
import { nodeAlerts } from "./node-alerts.js";
import { clusterRecords, instanceRecords, nodeRecords } from "./recording-rules.js";
const header = `# Rendered by rolecall: alert and recording rules for Prometheus. Check them: promtool check rules THIS_FILE
# Load them with rule_files in prometheus.yml. docs/alerts.md explains each alert.
`;
/** Renders a file of rules for Prometheus. The rules hold for every cluster that rolecall serves. */
export function renderAlerts(options) {
    return `${header}${stringify({ groups: ruleGroups(options) }, { lineWidth: 0 })}`;
}
/** The groups of rules: the records first, because the alerts of the same group read them. */
export function ruleGroups(options) {
    const group = (name, records, alerts) => ({
        name,
        interval: "15s",
        rules: [...records, ...alerts.map((alert) => prometheusAlert(alert, options))],
    });
    return [
        group("rolecall-clusters", [...clusterRecords, ...nodeRecords], [...clusterAlerts, ...nodeAlerts]),
        group("rolecall-instances", instanceRecords, instanceAlerts),
    ];
}
function prometheusAlert(alert, options) {
    const { name, severity, expr, pending, summary, description } = alert;
    return {
        alert: name,
        expr: expr(options),
        ...(pending === null ? {} : { for: pending }),
        labels: { severity },
        annotations: { summary, description, runbook_url: `${options.docs}alerts.md#${name.toLowerCase()}` },
    };
}
//# sourceMappingURL=rules.js.map