import { createHash } from "node:crypto";
import { stringify } from "yaml";
import { probedComments } from "../input/member-comments.ts";
import { type Targets } from "../input/targets.ts";
import { databasePods, databaseService, externalCluster, podCluster, type DatabasePods } from "./databases.ts";
import { deploymentSpec, labels, ports } from "./deployment.ts";
import type { KubernetesOptions } from "./kubernetes-options.ts";

/** An object of Kubernetes. */
export interface KubernetesObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: object;
  readonly data?: object;
  readonly spec?: object;
}

const header = `# Rendered by rolecall: kubectl apply -f THIS_FILE
# docs/kubernetes.md explains the objects.
`;

/**
 * Renders Kubernetes manifests: two instances of rolecall, their configuration, a Service, a disruption budget, a
 * network policy, and for each cluster the headless Service of its databases.
 */
export function renderKubernetes(targets: Targets, options: KubernetesOptions): string {
  const pods = databasePods(targets.clusters, options);
  const config = stringify(podConfig(targets, options), { lineWidth: 0 });
  const own = rolecallObjects(config, pods, options);
  return (
    header +
    probedComments(targets) +
    manifestText([...own, ...pods.map((databases) => databaseService(databases, options))])
  );
}

/** The configuration of rolecall in a pod. */
export function podConfig({ clusters, pools, hostSuffix }: Targets, options: KubernetesOptions): object {
  return {
    clusters: options.isExternal ? clusters.map(externalCluster) : databasePods(clusters, options).map(podCluster),
    listen: [
      { address: "0.0.0.0", port: ports.health },
      { address: "0.0.0.0", port: ports.metrics, dialect: "admin", read_only: true },
    ],
    ...(pools === null || pools.length === 0
      ? {}
      : { pools: pools.map(({ name, cluster, check }) => ({ name, cluster, check })) }),
    ...(hostSuffix === null ? {} : { host_suffixes: [hostSuffix] }),
    state_file: "/var/lib/rolecall/state.json",
    drain: "10s",
  };
}

/**
 * The objects of rolecall itself: ConfigMap, Deployment, Service, PodDisruptionBudget and NetworkPolicy, in this order.
 * @param config the text of rolecall.yaml
 * @param pods the databases that rolecall may connect to
 */
export function rolecallObjects(
  config: string,
  pods: readonly DatabasePods[],
  options: KubernetesOptions,
): readonly KubernetesObject[] {
  const hash = createHash("sha256").update(config).digest("hex").slice(0, 16);
  const metadata = objectMetadata(options);
  return [
    { apiVersion: "v1", kind: "ConfigMap", metadata, data: { "rolecall.yaml": config } },
    { apiVersion: "apps/v1", kind: "Deployment", metadata, spec: deploymentSpec(options.image, hash) },
    { apiVersion: "v1", kind: "Service", metadata, spec: serviceSpec() },
    {
      apiVersion: "policy/v1",
      kind: "PodDisruptionBudget",
      metadata,
      spec: { minAvailable: 1, selector: { matchLabels: labels } },
    },
    { apiVersion: "networking.k8s.io/v1", kind: "NetworkPolicy", metadata, spec: networkPolicySpec(pods, options) },
  ];
}

/** Name, namespace and labels of the objects of rolecall. */
export function objectMetadata({ namespace }: Pick<KubernetesOptions, "namespace">): object {
  return { name: "rolecall", ...(namespace === null ? {} : { namespace }), labels };
}

/** Writes objects as one file of YAML documents. */
export function manifestText(documents: readonly object[]): string {
  const texts = documents.map((document) => stringify(document, { lineWidth: 0, aliasDuplicateObjects: false }));
  return texts.join("---\n");
}

function serviceSpec(): object {
  return {
    selector: labels,
    ports: Object.entries(ports).map(([name, port]) => ({ name, port, targetPort: name })),
  };
}

/**
 * What may connect to rolecall: anything to the health checks, and pods to the metrics. What it may connect to: DNS,
 * and the APIs, exporters and companions of the databases.
 */
function networkPolicySpec(pods: readonly DatabasePods[], options: KubernetesOptions): object {
  const other = options.databaseNamespace;
  const namespaceSelector =
    other === null ? {} : { namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": other } } };
  return {
    podSelector: { matchLabels: labels },
    policyTypes: ["Ingress", "Egress"],
    ingress: [{ ports: tcp(ports.health) }, { from: [{ namespaceSelector: {} }], ports: tcp(ports.metrics) }],
    egress: options.isExternal
      ? [{}]
      : [
          { ports: [{ protocol: "UDP", port: 53 }, ...tcp(53)] },
          ...pods.map(({ cluster: { companions }, selector, apiPort, exporterPort }) => ({
            to: [{ podSelector: { matchLabels: selector }, ...namespaceSelector }],
            ports: tcp(
              apiPort,
              ...(exporterPort === null ? [] : [exporterPort]),
              ...companions.map(({ port }) => port),
            ),
          })),
        ],
  };
}

function tcp(...numbers: readonly number[]): readonly object[] {
  return numbers.map((port) => ({ protocol: "TCP", port }));
}
