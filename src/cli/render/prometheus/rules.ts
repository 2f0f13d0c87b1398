import { stringify } from "yaml";
import type { AlertOptions } from "./alert-options.ts";
import type { AlertRule } from "./alert-rule.ts";
import { clusterAlerts } from "./cluster-alerts.ts";
import { instanceAlerts } from "./instance-alerts.ts";
import { nodeAlerts } from "./node-alerts.ts";
import { clusterRecords, instanceRecords, nodeRecords, type RecordingRule } from "./recording-rules.ts";

const header = `# Rendered by rolecall: alert and recording rules for Prometheus. Check them: promtool check rules THIS_FILE
# Load them with rule_files in prometheus.yml. docs/alerts.md explains each alert.
`;

/** A group of rules in the format of Prometheus. Its rules are evaluated in order. */
interface RuleGroup {
  readonly name: string;
  readonly interval: string;
  readonly rules: readonly object[];
}

/** Renders a file of rules for Prometheus. The rules hold for every cluster that rolecall serves. */
export function renderAlerts(options: AlertOptions): string {
  return `${header}${stringify({ groups: ruleGroups(options) }, { lineWidth: 0 })}`;
}

/** The groups of rules: the records first, because the alerts of the same group read them. */
export function ruleGroups(options: AlertOptions): readonly RuleGroup[] {
  const group = (name: string, records: readonly RecordingRule[], alerts: readonly AlertRule[]): RuleGroup => ({
    name,
    interval: "15s",
    rules: [...records, ...alerts.map((alert) => prometheusAlert(alert, options))],
  });
  return [
    group("rolecall-clusters", [...clusterRecords, ...nodeRecords], [...clusterAlerts, ...nodeAlerts]),
    group("rolecall-instances", instanceRecords, instanceAlerts),
  ];
}

function prometheusAlert(alert: AlertRule, options: AlertOptions): object {
  const { name, severity, expr, pending, summary, description } = alert;
  return {
    alert: name,
    expr: expr(options),
    ...(pending === null ? {} : { for: pending }),
    labels: { severity },
    annotations: { summary, description, runbook_url: `${options.docs}alerts.md#${name.toLowerCase()}` },
  };
}
