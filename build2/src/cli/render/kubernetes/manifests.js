import { createHash } from "node:crypto";
import { stringify } from "yaml";
import { databasePods, databaseService, externalCluster, podCluster } from "./databases.js";
import { deploymentSpec, labels, ports } from "./deployment.js";
const header = `# Rendered by rolecall: kubectl apply -f THIS_FILE
# docs/kubernetes.md explains the objects.
`;
/**
 * Renders Kubernetes manifests: two instances of rolecall, their configuration, a Service, a disruption budget, a
 * network policy, and for each cluster the headless Service of its databases.
 */
export function renderKubernetes({ clusters, hostSuffix }, options) {
    const pods = databasePods(clusters, options);
    const config = stringify({
        clusters: options.isExternal ? clusters.map(externalCluster) : pods.map(podCluster),
        listen: [
            { address: "0.0.0.0", port: ports.health },
            { address: "0.0.0.0", port: ports.metrics, dialect: "admin", read_only: true },
        ],
        ...(hostSuffix === null ? {} : { host_suffixes: [hostSuffix] }),
        state_file: "/var/lib/rolecall/state.json",
        drain: "10s",
    }, { lineWidth: 0 });
    const hash = createHash("sha256").update(config).digest("hex").slice(0, 16);
    const metadata = objectMetadata(options);
    const documents = [
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
        ...pods.map((databases) => databaseService(databases, options)),
    ];
    return header + manifestText(documents);
}
/** Name, namespace and labels of the objects of rolecall. */
export function objectMetadata({ namespace }) {
    return { name: "rolecall", ...(namespace === null ? {} : { namespace }), labels };
}
/** Writes objects as one file of YAML documents. */
export function manifestText(documents) {
    const texts = documents.map((document) => stringify(document, { lineWidth: 0, aliasDuplicateObjects: false }));
    return texts.join("---\n");
}
function serviceSpec() {
    return {
        selector: labels,
        ports: Object.entries(ports).map(([name, port]) => ({ name, port, targetPort: name })),
    };
}
/**
 * What may connect to rolecall: anything to the health checks, and pods to the metrics. What it may connect to: DNS,
 * and the APIs and exporters of the databases.
 */
function networkPolicySpec(pods, options) {
    const other = options.databaseNamespace;
    const namespaceSelector = other === null ? {} : { namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": other } } };
    return {
        podSelector: { matchLabels: labels },
        policyTypes: ["Ingress", "Egress"],
        ingress: [{ ports: tcp(ports.health) }, { from: [{ namespaceSelector: {} }], ports: tcp(ports.metrics) }],
        egress: options.isExternal
            ? [{}]
            : [
                { ports: [{ protocol: "UDP", port: 53 }, ...tcp(53)] },
                ...pods.map(({ selector, apiPort, exporterPort }) => ({
                    to: [{ podSelector: { matchLabels: selector }, ...namespaceSelector }],
                    ports: tcp(apiPort, ...(exporterPort === null ? [] : [exporterPort])),
                })),
            ],
    };
}
function tcp(...numbers) {
    return numbers.map((port) => ({ protocol: "TCP", port }));
}
//# sourceMappingURL=manifests.js.map