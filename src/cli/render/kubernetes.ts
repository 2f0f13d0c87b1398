import { stringify } from "yaml";
import { hostPort } from "./edges.ts";
import type { Targets } from "./targets.ts";

const labels = { "app.kubernetes.io/name": "rolecall" };
const port = 8008;

/**
 * Renders Kubernetes manifests: two instances of rolecall, their configuration, a Service, a disruption budget. The
 * liveness probe checks the process, never a database (reference/integrations.md, 4). The admin listener stays on
 * loopback.
 */
export function renderKubernetes({ clusters, hostSuffix }: Targets, image: string): string {
  const config = {
    clusters: clusters.map(({ name, scope, nodes, scraped }) => ({
      name,
      ...(scope === null || scope === name ? {} : { scope }),
      nodes: scraped.map((node) => {
        const database = nodes.find((target) => target.name === node.name)?.database;
        return {
          name: node.name,
          ...(node.api === null ? {} : { api: node.api }),
          ...(node.exporter === null ? {} : { exporter: node.exporter }),
          ...(database === undefined ? {} : { database: hostPort(database) }),
        };
      }),
    })),
    listen: [
      { address: "0.0.0.0", port },
      { port: 9108, dialect: "admin" },
    ],
    ...(hostSuffix === null ? {} : { host_suffixes: [hostSuffix] }),
  };
  const documents = [
    {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "rolecall", labels },
      data: { "rolecall.yaml": stringify(config, { lineWidth: 0 }) },
    },
    { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "rolecall", labels }, spec: deployment(image) },
    {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "rolecall", labels },
      spec: { selector: labels, ports: [{ name: "health", port, targetPort: "health" }] },
    },
    {
      apiVersion: "policy/v1",
      kind: "PodDisruptionBudget",
      metadata: { name: "rolecall", labels },
      spec: { minAvailable: 1, selector: { matchLabels: labels } },
    },
  ];
  const texts = documents.map((document) => stringify(document, { lineWidth: 0, aliasDuplicateObjects: false }));
  return `# Rendered by rolecall: kubectl apply -f THIS_FILE\n${texts.join("---\n")}`;
}

function deployment(image: string): object {
  return {
    replicas: 2,
    selector: { matchLabels: labels },
    template: {
      metadata: { labels },
      spec: {
        containers: [
          {
            name: "rolecall",
            image,
            args: ["serve", "--config", "/etc/rolecall/rolecall.yaml"],
            ports: [{ name: "health", containerPort: port }],
            readinessProbe: probe("/readyz"),
            livenessProbe: probe("/livez"),
            volumeMounts: [{ name: "config", mountPath: "/etc/rolecall", readOnly: true }],
            securityContext: {
              allowPrivilegeEscalation: false,
              readOnlyRootFilesystem: true,
              runAsNonRoot: true,
              capabilities: { drop: ["ALL"] },
            },
          },
        ],
        volumes: [{ name: "config", configMap: { name: "rolecall" } }],
      },
    },
  };
}

function probe(path: string): object {
  return { httpGet: { path, port: "health" }, periodSeconds: 2, timeoutSeconds: 1, failureThreshold: 3 };
}
