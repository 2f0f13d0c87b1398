import type { AlertOptions } from "../prometheus/alerts.ts";
import { databaseService } from "../kubernetes/databases.ts";
import type { KubernetesOptions } from "../kubernetes/kubernetes-options.ts";
import { rolecallObjects, type KubernetesObject } from "../kubernetes/manifests.ts";
import { monitoringObjects } from "../kubernetes/monitoring.ts";
import type { RenderedFile } from "../output/rendered-files.ts";
import { block, inline, items, optional, optionalText, templateText, type Slot } from "./template.ts";

/** The file of the chart that holds the alert and recording rules: Helm would evaluate their `{{ }}` in a template. */
export const rulesFile = "files/rolecall-rules.yml";

const selectorLabels = block('include "rolecall.selectorLabels" .');
const metadata: Readonly<Record<string, Slot>> = {
  "metadata.name": inline(".Release.Name"),
  "metadata.namespace": inline(".Release.Namespace"),
  "metadata.labels": block('include "rolecall.labels" .'),
};

/** The fields of each object that a release has from its values, beside its metadata. */
const objectSlots: Readonly<Record<string, Readonly<Record<string, Slot>>>> = {
  ConfigMap: { data: ({ pad }) => `${pad}data:\n${pad}  rolecall.yaml: |\n${pad}    {{- ${config} | nindent 4 }}` },
  Deployment: {
    "spec.replicas": inline(".Values.replicas"),
    "spec.selector.matchLabels": selectorLabels,
    "spec.template.metadata.labels": selectorLabels,
    "spec.template.metadata.annotations": podAnnotations,
    "spec.template.spec.topologySpreadConstraints.0.labelSelector.matchLabels": selectorLabels,
    "spec.template.spec.imagePullSecrets": optional(".Values.imagePullSecrets"),
    "spec.template.spec.nodeSelector": optional(".Values.nodeSelector"),
    "spec.template.spec.tolerations": optional(".Values.tolerations"),
    "spec.template.spec.affinity": optional(".Values.affinity"),
    "spec.template.spec.priorityClassName": optionalText(".Values.priorityClassName"),
    "spec.template.spec.containers.0.image": inline(".Values.image"),
    "spec.template.spec.containers.0.imagePullPolicy": optionalText(".Values.imagePullPolicy"),
    "spec.template.spec.containers.0.ports.0.containerPort": inline(".Values.ports.health"),
    "spec.template.spec.containers.0.ports.1.containerPort": inline(".Values.ports.metrics"),
    "spec.template.spec.containers.0.resources": block("toYaml .Values.resources"),
    "spec.template.spec.containers.0.volumeMounts.+": items(".Values.volumeMounts"),
    "spec.template.spec.volumes.0.configMap.name": inline(".Release.Name"),
    "spec.template.spec.volumes.+": items(".Values.volumes"),
  },
  Service: {
    "metadata.annotations": optional(".Values.service.annotations"),
    "spec.type": optionalText(".Values.service.type"),
    "spec.selector": selectorLabels,
    "spec.ports.0.port": inline(".Values.ports.health"),
    "spec.ports.1.port": inline(".Values.ports.metrics"),
  },
  PodDisruptionBudget: { "spec.selector.matchLabels": selectorLabels },
  NetworkPolicy: {
    "spec.podSelector.matchLabels": selectorLabels,
    "spec.ingress.0.ports.0.port": inline(".Values.ports.health"),
    "spec.ingress.1.ports.0.port": inline(".Values.ports.metrics"),
    "spec.egress": egress,
  },
  ServiceMonitor: {
    "metadata.labels": monitoringLabels,
    "spec.selector.matchLabels": selectorLabels,
  },
  PrometheusRule: {
    "metadata.labels": monitoringLabels,
    spec: ({ pad, key }) => `${pad}${key}:\n${pad}  {{- .Files.Get ${JSON.stringify(rulesFile)} | nindent 2 }}`,
  },
};

/** When an object exists. Without an entry: always. */
const conditions: Readonly<Record<string, string>> = {
  // A budget of one of one instance would block every drain of its machine.
  PodDisruptionBudget: "and .Values.podDisruptionBudget.enabled (gt (int .Values.replicas) 1)",
  NetworkPolicy: ".Values.networkPolicy.enabled",
  ServiceMonitor: ".Values.monitoring.enabled",
  PrometheusRule: ".Values.monitoring.enabled",
};

/** The text of rolecall.yaml. */
const config = 'include "rolecall.config" .';

/** The templates of the chart: the objects of `rolecall render kubernetes`, one a file. */
export function chartTemplates(options: KubernetesOptions, alerts: AlertOptions): readonly RenderedFile[] {
  const objects = [...rolecallObjects("", [], options), ...monitoringObjects(null, alerts)];
  const own = objects.map((object) => ({ name: fileName(object.kind), text: objectTemplate(object) }));
  return [{ name: "templates/_helpers.tpl", text: helpers }, ...own, databaseServices(options)];
}

function fileName(kind: string): string {
  return `templates/${kind.replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => `-${letter}`).toLowerCase()}.yaml`;
}

function objectTemplate(object: KubernetesObject): string {
  const { kind } = object;
  const text = templateText(object, { ...metadata, ...objectSlots[kind] });
  const condition = conditions[kind];
  return condition === undefined ? text : `{{- if ${condition} }}\n${text}{{- end }}\n`;
}

/** A headless Service for each item of the value `databases`. */
function databaseServices(options: KubernetesOptions): RenderedFile {
  const cluster = {
    name: "",
    scope: null,
    nodes: [],
    members: 0,
    silent: 0,
    summary: "",
    unnamed: [],
    unbalanced: [],
    unscraped: [],
    scraped: [],
    ca: null,
    companions: [],
    companionsAt: new Map(),
  };
  const pods = { cluster, service: "", host: "", selector: {}, apiPort: 0, exporterPort: null };
  const text = templateText(databaseService(pods, options), {
    "metadata.name": inline(".service"),
    "metadata.namespace": inline(".namespace | default $.Release.Namespace"),
    "spec.selector": block("toYaml .selector"),
    "spec.ports": block("toYaml .ports"),
  });
  return { name: "templates/databases.yaml", text: `{{- range .Values.databases }}\n---\n${text}{{- end }}\n` };
}

function podAnnotations({ pad, key }: { readonly pad: string; readonly key: string }): string {
  return [
    `${pad}${key}:`,
    `${pad}  checksum/config: {{ ${config} | sha256sum | trunc 16 | quote }}`,
    items(".Values.podAnnotations")({ pad: `${pad}  `, key }),
  ].join("\n");
}

function monitoringLabels({ pad, key }: { readonly pad: string; readonly key: string }): string {
  const own = block('include "rolecall.labels" .')({ pad, key });
  return `${own}\n${items(".Values.monitoring.labels")({ pad: `${pad}  `, key })}`;
}

/** DNS and the databases. Without `databases` they may run anywhere, so that any connection is allowed. */
function egress({ pad, key }: { readonly pad: string; readonly key: string }): string {
  const lines = `
{{- if .Values.databases }}
- ports:
    - protocol: UDP
      port: 53
    - protocol: TCP
      port: 53
{{- range .Values.databases }}
- to:
    - podSelector:
        matchLabels:
          {{- toYaml .selector | nindent ${pad.length + 12} }}
      {{- with .namespace }}
      namespaceSelector:
        matchLabels:
          kubernetes.io/metadata.name: {{ . }}
      {{- end }}
  ports:
    {{- range .ports }}
    {{- if ne .name "postgresql" }}
    - protocol: TCP
      port: {{ .port }}
    {{- end }}
    {{- end }}
{{- end }}
{{- with .Values.networkPolicy.extraEgress }}
{{- toYaml . | nindent ${pad.length + 2} }}
{{- end }}
{{- else }}
- {}
{{- end }}`;
  return `${pad}${key}:${lines.replaceAll("\n", `\n${pad}  `)}`;
}

const helpers = `{{/* The labels by which the Service, the policies and the Deployment select the pods of a release. */}}
{{- define "rolecall.selectorLabels" -}}
app.kubernetes.io/name: rolecall
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "rolecall.labels" -}}
{{ include "rolecall.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{/* The text of rolecall.yaml. */}}
{{- define "rolecall.config" -}}
{{- if .Values.configFile }}
{{- .Values.configFile }}
{{- else }}
{{- toYaml .Values.config }}
{{- end }}
{{- end }}
`;
