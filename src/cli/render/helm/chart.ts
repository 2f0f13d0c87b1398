import { stringify } from "yaml";
import { version } from "../../../config/version.ts";
import type { CommandContext } from "../../../command/framework/command-context.ts";
import { probedComments } from "../input/member-comments.ts";
import type { Targets } from "../input/targets.ts";
import { parseKubernetesOptions, type KubernetesOptions } from "../kubernetes/kubernetes-options.ts";
import { writeRendered, type RenderedFile } from "../output/rendered-files.ts";
import { parseAlertOptions, renderAlerts, type AlertOptions } from "../prometheus/alerts.ts";
import { chartTemplates, rulesFile } from "./templates.ts";
import { chartValues, valuesSchema, valuesText } from "./values.ts";

/** What a chart is rendered with, beside the clusters. */
interface ChartOptions {
  readonly kubernetes: KubernetesOptions;
  readonly alerts: AlertOptions;
  readonly isMonitored: boolean;
}

/**
 * Renders a chart for Helm. With `--directory`, writes its files there and returns the command that installs it;
 * otherwise returns all files as one text, each below its path.
 * @throws CommandError (RC001) if an option is not valid; (RC150) if a file cannot be written
 */
export function renderHelm({ args }: Pick<CommandContext, "args">, targets: Targets): string {
  const kubernetes = parseKubernetesOptions(args);
  const files = chartFiles(targets, {
    kubernetes,
    alerts: parseAlertOptions(args),
    isMonitored: args.has("monitoring"),
  });
  const directory = args.text("directory");
  if (directory === null) return files.map(({ name, text }) => `# ${name}\n${text}`).join("\n");
  writeRendered(directory, files);
  const { namespace } = kubernetes;
  const where = namespace === null ? "" : ` --namespace ${namespace} --create-namespace`;
  return `# Install the chart:\nhelm upgrade --install rolecall ${directory}${where}\n`;
}

/** The files of the chart. With its values as they are, it has the objects of {@link renderKubernetes}. */
function chartFiles(targets: Targets, { kubernetes, alerts, isMonitored }: ChartOptions): readonly RenderedFile[] {
  const values = chartValues(targets, kubernetes, isMonitored);
  return [
    { name: "Chart.yaml", text: chartText() },
    { name: "values.yaml", text: valuesText(values, probedComments(targets)) },
    { name: "values.schema.json", text: valuesSchema(values) },
    { name: rulesFile, text: renderAlerts(alerts) },
    ...chartTemplates(kubernetes, alerts),
    { name: "templates/NOTES.txt", text: notes },
  ];
}

function chartText(): string {
  const chart = {
    apiVersion: "v2",
    name: "rolecall",
    description: "Health checks for PostgreSQL high-availability clusters",
    type: "application",
    version: version(),
    appVersion: version(),
    kubeVersion: ">=1.26.0-0",
    keywords: ["postgresql", "patroni", "high-availability", "health-check"],
  };
  return `# Rendered by rolecall: rolecall render helm. docs/kubernetes.md explains it.\n${stringify(chart, { lineWidth: 0 })}`;
}

const notes = `rolecall answers health checks at http://{{ .Release.Name }}.{{ .Release.Namespace }}.svc:{{ .Values.ports.health }}

See what it knows:

  kubectl --namespace {{ .Release.Namespace }} exec deploy/{{ .Release.Name }} -- node /app/dist/main.js status
`;
