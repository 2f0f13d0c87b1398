/** The labels of every object, and of the pods. */
export const labels = { "app.kubernetes.io/name": "rolecall" };

/** The ports of the listeners in the rendered configuration. */
export const ports = { health: 8008, metrics: 9108 } as const;

/** How many instances run, and what each may use. */
export const deploymentDefaults = {
  replicas: 2,
  resources: { requests: { cpu: "100m", memory: "128Mi" }, limits: { memory: "512Mi" } },
} as const;

/** The user `node` of the image. By number, because the kubelet cannot verify a name (`runAsNonRoot`). */
const user = 1000;

/**
 * Renders the spec of the Deployment. Its probes check the process, never a database (docs/kubernetes.md, "Probes").
 * @param configHash changes with the configuration, so that `kubectl apply` replaces the pods
 */
export function deploymentSpec(image: string, configHash: string): object {
  return {
    replicas: deploymentDefaults.replicas,
    strategy: { rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
    selector: { matchLabels: labels },
    template: {
      metadata: { labels, annotations: { "checksum/config": configHash } },
      spec: {
        automountServiceAccountToken: false,
        enableServiceLinks: false,
        // Longer than the key drain of the configuration.
        terminationGracePeriodSeconds: 30,
        topologySpreadConstraints: [
          {
            maxSkew: 1,
            topologyKey: "kubernetes.io/hostname",
            whenUnsatisfiable: "ScheduleAnyway",
            labelSelector: { matchLabels: labels },
          },
        ],
        securityContext: {
          runAsNonRoot: true,
          runAsUser: user,
          runAsGroup: user,
          fsGroup: user,
          seccompProfile: { type: "RuntimeDefault" },
        },
        containers: [container(image)],
        volumes: [
          { name: "config", configMap: { name: "rolecall" } },
          { name: "state", emptyDir: { sizeLimit: "512Mi" } },
        ],
      },
    },
  };
}

function container(image: string): object {
  return {
    name: "rolecall",
    image,
    args: ["serve", "--config", "/etc/rolecall/rolecall.yaml"],
    ports: Object.entries(ports).map(([name, containerPort]) => ({ name, containerPort })),
    startupProbe: { ...probe("/livez"), periodSeconds: 1, failureThreshold: 60 },
    readinessProbe: probe("/readyz"),
    livenessProbe: { ...probe("/livez"), periodSeconds: 5 },
    resources: deploymentDefaults.resources,
    volumeMounts: [
      { name: "config", mountPath: "/etc/rolecall", readOnly: true },
      { name: "state", mountPath: "/var/lib/rolecall" },
    ],
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    },
  };
}

function probe(path: string): object {
  return { httpGet: { path, port: "health" }, periodSeconds: 2, timeoutSeconds: 1, failureThreshold: 3 };
}
