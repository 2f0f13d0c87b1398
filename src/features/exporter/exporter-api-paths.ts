import type { CostlyPage } from "../../core/feature/listener-api.ts";
import { pathOf } from "./target-path.ts";
import { scrapesMax } from "../../core/http/pages/page.ts";

/** Whether a target reloads the configuration: a change of state also with GET, which is kept for compatibility. */
export function isReload(target: string, telemetryPath: string): boolean {
  return telemetryPath !== reloadPath && pathOf(target) === reloadPath;
}

/** The only path of the exporter API that changes state. */
export const reloadPath = "/reload";

/** A page that costs more than a check. */
interface ExporterPage extends CostlyPage {
  readonly shows: "metrics" | "stat" | "explain";
}

const metricsPage: ExporterPage = { shows: "metrics", name: "exporter metrics", runningMax: scrapesMax };
const otherPages: ReadonlyMap<string | null, ExporterPage> = new Map<string, ExporterPage>([
  ["/stat", { shows: "stat", name: "exporter stat", runningMax: 1 }],
  ["/explain", { shows: "explain", name: "exporter explain", runningMax: 1 }],
]);

/** Returns the page that a target names, or `null`. All waiting scrapes of the metrics share one rendering. */
export function exporterPageOf(target: string, telemetryPath: string): ExporterPage | null {
  const path = pathOf(target);
  return path === telemetryPath ? metricsPage : (otherPages.get(path) ?? null);
}
