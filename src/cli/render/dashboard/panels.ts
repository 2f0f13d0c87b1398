/** A query of a panel. `$cluster` and `$instance` are the selections of the reader. */
export interface PanelQuery {
  readonly expr: string;
  /** The name of each series, in the template language of Grafana. */
  readonly legend: string;
}

/** A panel of the dashboard. */
export interface Panel {
  readonly title: string;
  /** `stat`: one number; `states`: a coloured bar for each series; `graph`: lines; `table`: a row for each cluster. */
  readonly kind: "stat" | "states" | "graph" | "table";
  /** Its width, of 24. */
  readonly width: number;
  readonly unit?: "bytes" | "s" | "percentunit" | "reqps" | "d" | "short";
  /** The value from which a `stat` is red; without: it is never red. */
  readonly redFrom?: number;
  readonly queries: readonly PanelQuery[];
}

/** A row of panels. */
export interface PanelRow {
  readonly title: string;
  readonly panels: readonly Panel[];
}

const ofCluster = 'cluster=~"$cluster"';
const ofInstance = 'instance=~"$instance"';

/** All panels. @param job the Prometheus job that scrapes rolecall */
export function panelRows(job: string): readonly PanelRow[] {
  return [
    { title: "Fleet", panels: fleetPanels(job) },
    { title: "Clusters: $cluster", panels: clusterPanels },
    { title: "Instances of rolecall: $instance", panels: edgePanels(job) },
  ];
}

function fleetPanels(job: string): readonly Panel[] {
  return [
    stat("Clusters", "count(max by (cluster) (rolecall_cluster_has_primary))"),
    stat("Clusters without a primary", "count(max by (cluster) (rolecall_cluster_has_primary) == 0) or vector(0)", 1),
    stat("Nodes that do not answer", "count(max by (cluster, node) (rolecall_node_up) == 0) or vector(0)", 1),
    stat("Drained nodes", "sum(max by (cluster) (rolecall_drains))"),
    stat("Instances of rolecall that are up", `sum(up{job="${job}"})`),
    stat("Clusters that an instance is blind for", "sum(rolecall_cluster_blind)", 1),
    {
      title: "Clusters",
      kind: "table",
      width: 24,
      queries: [
        { expr: "max by (cluster) (rolecall_cluster_has_primary)", legend: "has a primary" },
        { expr: "max by (cluster) (rolecall_cluster_claims)", legend: "claims" },
        { expr: "max by (cluster) (rolecall_cluster_timeline)", legend: "timeline" },
        { expr: "sum by (cluster) (max by (cluster, node) (rolecall_node_up))", legend: "nodes up" },
        {
          expr: 'sum by (cluster) (max by (cluster, node) (rolecall_node_fit{check="replica"}))',
          legend: "replicas fit",
        },
        { expr: "max by (cluster) (min by (cluster, node) (rolecall_node_lag_bytes))", legend: "lag in bytes" },
        { expr: "max by (cluster) (rolecall_drains)", legend: "drained" },
      ],
    },
  ];
}

function stat(title: string, expr: string, redFrom?: number): Panel {
  const limit = redFrom === undefined ? {} : { redFrom };
  return { title, kind: "stat", width: 4, unit: "short", ...limit, queries: [{ expr, legend: title }] };
}

const clusterPanels: readonly Panel[] = [
  {
    title: "Fit for /primary",
    kind: "states",
    width: 12,
    queries: [
      {
        expr: `max by (cluster, node) (rolecall_node_fit{check="primary",${ofCluster}})`,
        legend: "{{cluster}}/{{node}}",
      },
    ],
  },
  {
    title: "Fit for /replica",
    kind: "states",
    width: 12,
    queries: [
      {
        expr: `max by (cluster, node) (rolecall_node_fit{check="replica",${ofCluster}})`,
        legend: "{{cluster}}/{{node}}",
      },
    ],
  },
  {
    title: "Why nodes are unfit",
    kind: "graph",
    width: 12,
    unit: "short",
    queries: [
      {
        expr: `max by (cluster, node, check, reason) (rolecall_node_unfit_reason{${ofCluster}})`,
        legend: "{{cluster}}/{{node}} /{{check}}: {{reason}}",
      },
    ],
  },
  {
    title: "Events",
    kind: "graph",
    width: 12,
    unit: "short",
    queries: [
      {
        expr: `sum by (cluster, kind) (increase(rolecall_events_total{${ofCluster}}[$__rate_interval]))`,
        legend: "{{cluster}} {{kind}}",
      },
    ],
  },
  nodeGraph("Lag", "bytes", `min by (cluster, node) (rolecall_node_lag_bytes{${ofCluster}})`),
  nodeGraph("Lag in time", "s", `min by (cluster, node) (rolecall_node_lag_seconds{${ofCluster}})`),
  nodeGraph("Age of the evidence", "s", `min by (cluster, node) (rolecall_node_age_seconds{${ofCluster}})`),
  {
    title: "Timeline",
    kind: "graph",
    width: 8,
    unit: "short",
    queries: [{ expr: `max by (cluster) (rolecall_cluster_timeline{${ofCluster}})`, legend: "{{cluster}}" }],
  },
  {
    title: "Duration of probes (99 %)",
    kind: "graph",
    width: 8,
    unit: "s",
    queries: [
      {
        expr:
          "histogram_quantile(0.99, sum by (cluster, question, le) " +
          `(rate(rolecall_probe_duration_seconds_bucket{${ofCluster}}[$__rate_interval])))`,
        legend: "{{cluster}} {{question}}",
      },
    ],
  },
  {
    title: "Probes that failed",
    kind: "graph",
    width: 8,
    unit: "reqps",
    queries: [
      {
        expr: `sum by (cluster, node) (rate(rolecall_probes_total{outcome!="ok",${ofCluster}}[$__rate_interval])) or vector(0)`,
        legend: "{{cluster}}/{{node}}",
      },
    ],
  },
];

function nodeGraph(title: string, unit: "bytes" | "s", expr: string): Panel {
  return { title, kind: "graph", width: 8, unit, queries: [{ expr, legend: "{{cluster}}/{{node}}" }] };
}

function edgePanels(job: string): readonly Panel[] {
  const ours = `job="${job}",${ofInstance}`;
  const graph = (title: string, unit: NonNullable<Panel["unit"]>, query: PanelQuery): Panel => ({
    title,
    kind: "graph",
    width: 8,
    unit,
    queries: [query],
  });
  const rate = (metric: string): string => `sum by (instance) (rate(${metric}{${ours}}[$__rate_interval]))`;
  return [
    { title: "Up", kind: "states", width: 8, queries: [{ expr: `up{${ours}}`, legend: "{{instance}}" }] },
    graph("Answers", "reqps", {
      expr: `sum by (instance, status) (rate(rolecall_answers_total{${ours}}[$__rate_interval]))`,
      legend: "{{instance}} {{status}}",
    }),
    graph("Answers of the fast path", "reqps", {
      expr: rate("rolecall_fast_path_requests_total"),
      legend: "{{instance}}",
    }),
    graph("Rejected requests", "reqps", {
      expr: `${rate("rolecall_requests_rejected_total")} or vector(0)`,
      legend: "{{instance}}",
    }),
    graph("Processor", "percentunit", { expr: rate("process_cpu_seconds_total"), legend: "{{instance}}" }),
    graph("Memory", "bytes", { expr: `process_resident_memory_bytes{${ours}}`, legend: "{{instance}}" }),
    graph("Up for", "s", { expr: `time() - process_start_time_seconds{${ours}}`, legend: "{{instance}}" }),
    graph("Bursts of probes", "short", {
      expr: `sum by (instance, cause) (increase(rolecall_bursts_total{${ours}}[$__rate_interval])) or vector(0)`,
      legend: "{{instance}} {{cause}}",
    }),
    graph("Days until certificates expire", "d", {
      expr: `(rolecall_certificate_expiry_timestamp_seconds{${ours}} - time()) / 86400`,
      legend: "{{instance}} {{file}}",
    }),
  ];
}
