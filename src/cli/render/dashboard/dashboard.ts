import { panelRows, type Panel } from "./panels.ts";

const datasource = { type: "prometheus", uid: "${datasource}" };

/** The type of panel in Grafana, and its height in rows of the grid. */
const shapes = {
  stat: { type: "stat", height: 4 },
  states: { type: "state-timeline", height: 7 },
  graph: { type: "timeseries", height: 7 },
  table: { type: "table", height: 7 },
} as const;

/** The width of the grid. */
const gridWidth = 24;

/**
 * Renders a dashboard for Grafana 9 or later: a row for all clusters, one for the selected clusters, and one for the
 * selected instances of rolecall. It needs no recording rules.
 * @param job the Prometheus job that scrapes rolecall
 */
export function renderDashboard(job: string): string {
  const dashboard = {
    uid: "rolecall",
    title: "rolecall",
    description: "Rendered by rolecall. docs/prometheus.md explains it.",
    tags: ["postgresql", "rolecall"],
    schemaVersion: 37,
    refresh: "30s",
    time: { from: "now-1h", to: "now" },
    timezone: "",
    editable: true,
    graphTooltip: 1,
    templating: { list: variables(job) },
    annotations: { list: [] },
    panels: placed(job),
  };
  return `${JSON.stringify(dashboard, null, 2)}\n`;
}

function variables(job: string): readonly object[] {
  return [
    { name: "datasource", label: "data source", type: "datasource", query: "prometheus", current: {} },
    labelVariable("cluster", "label_values(rolecall_cluster_has_primary, cluster)"),
    labelVariable("instance", `label_values(up{job="${job}"}, instance)`),
  ];
}

/** A selection of values of a label. */
function labelVariable(name: string, query: string): object {
  return {
    name,
    label: name,
    type: "query",
    datasource,
    query: { query, refId: name },
    definition: query,
    refresh: 2,
    sort: 1,
    multi: true,
    includeAll: true,
    allValue: ".*",
    current: { text: ["All"], value: ["$__all"] },
  };
}

/** The panels of all rows with their places, from left to right and from top to bottom. */
function placed(job: string): readonly object[] {
  const panels: object[] = [];
  let [x, y, height] = [0, 0, 0];
  const newLine = (): void => {
    [x, y, height] = [0, y + height, 0];
  };
  for (const row of panelRows(job)) {
    newLine();
    panels.push({
      id: panels.length + 1,
      type: "row",
      title: row.title,
      collapsed: false,
      panels: [],
      gridPos: { h: 1, w: gridWidth, x: 0, y },
    });
    y += 1;
    for (const panel of row.panels) {
      if (x + panel.width > gridWidth) newLine();
      const h = shapes[panel.kind].height;
      const gridPos = { h, w: panel.width, x, y };
      panels.push({ id: panels.length + 1, gridPos, ...grafanaPanel(panel) });
      x += panel.width;
      height = Math.max(height, h);
    }
  }
  return panels;
}

function grafanaPanel(panel: Panel): object {
  const isTable = panel.kind === "table";
  return {
    type: shapes[panel.kind].type,
    title: panel.title,
    datasource,
    targets: panel.queries.map(({ expr, legend }, index) => ({
      refId: String.fromCodePoint(65 + index),
      datasource,
      expr,
      legendFormat: legend,
      ...(isTable ? { format: "table" } : {}),
      ...(isTable || panel.kind === "stat" ? { instant: true } : { range: true }),
    })),
    fieldConfig: { defaults: fieldDefaults(panel), overrides: [] },
    ...(isTable ? { transformations: tableTransformations(panel) } : {}),
  };
}

/** Units and colours. Only `states` and a `stat` with a limit have colours that mean something. */
function fieldDefaults({ kind, unit, redFrom }: Panel): object {
  const green = { color: "green", value: null };
  if (kind === "states") {
    return {
      mappings: [
        {
          type: "value",
          options: { "0": { text: "no", color: "red", index: 0 }, "1": { text: "yes", color: "green", index: 1 } },
        },
      ],
      custom: { fillOpacity: 70, lineWidth: 0 },
    };
  }
  const steps = redFrom === undefined ? [green] : [green, { color: "red", value: redFrom }];
  return {
    ...(unit === undefined ? {} : { unit }),
    ...(kind === "graph" ? { min: 0, custom: { lineWidth: 1, fillOpacity: 0, showPoints: "never" } } : {}),
    ...(kind === "stat" ? { thresholds: { mode: "absolute", steps } } : {}),
  };
}

/** One row for each cluster: the results of all queries side by side, named as their legends. */
function tableTransformations({ queries }: Panel): readonly object[] {
  const names = queries.map(({ legend }, index) => [`Value #${String.fromCodePoint(65 + index)}`, legend]);
  return [
    { id: "merge", options: {} },
    { id: "organize", options: { excludeByName: { Time: true }, renameByName: Object.fromEntries(names) } },
  ];
}
