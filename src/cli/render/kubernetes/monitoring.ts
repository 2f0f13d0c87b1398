import { ruleGroups, type AlertOptions } from "../prometheus/alerts.ts";
import { ownSeries } from "../prometheus/scrape-config.ts";
import { labels } from "./deployment.ts";
import { manifestText, objectMetadata, type KubernetesObject } from "./manifests.ts";

const header = `# Rendered by rolecall for the Prometheus Operator: kubectl apply -f THIS_FILE
`;

/** Renders the objects of the Prometheus Operator: what it scrapes of rolecall, and the alert and recording rules. */
export function renderMonitoring(namespace: string | null, alerts: AlertOptions): string {
  return header + manifestText(monitoringObjects(namespace, alerts));
}

/** The ServiceMonitor and the PrometheusRule, in this order. */
export function monitoringObjects(namespace: string | null, alerts: AlertOptions): readonly KubernetesObject[] {
  const apiVersion = "monitoring.coreos.com/v1";
  const metadata = objectMetadata({ namespace });
  return [
    {
      apiVersion,
      kind: "ServiceMonitor",
      metadata,
      spec: {
        // The job is named by this label of the Service.
        jobLabel: "app.kubernetes.io/name",
        selector: { matchLabels: labels },
        endpoints: [
          {
            port: "metrics",
            interval: "15s",
            metricRelabelings: [{ sourceLabels: ["__name__"], regex: ownSeries, action: "keep" }],
          },
        ],
      },
    },
    { apiVersion, kind: "PrometheusRule", metadata, spec: { groups: ruleGroups(alerts) } },
  ];
}
