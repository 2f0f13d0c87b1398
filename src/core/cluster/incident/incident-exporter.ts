import { diskFields, pageDefaults, pageFields } from "../evidence/evidence-fields.ts";
import { withDefaults } from "../evidence/fields.ts";
import type { ExporterPage } from "../exporter/exporter-report.ts";
import type { ExporterResult } from "../outcome.ts";
import type { IncidentCluster, IncidentValue } from "./incident-yaml.ts";
import { writtenFields } from "./written-fields.ts";

/**
 * The page that an incident file implies where it states nothing: pg_exporter's, of a primary without standbys, at an
 * unknown position. Fields that are shown but never judged are not part of the format.
 */
export function impliedPage({ system }: IncidentCluster): ExporterPage {
  return withDefaults(pageDefaults, {
    family: "pg_exporter",
    isPooler: false,
    isUp: true,
    isInRecovery: false,
    system,
    isReplayPaused: null,
    senders: [],
    streaming: 0,
    receiver: null,
    samples: 1,
  });
}

/** Converts the result of an exporter probe to the `exporters` section of an incident file (docs/incidents.md). */
export function exporterValue(result: ExporterResult, cluster: IncidentCluster): IncidentValue {
  const key = result.endpoint === "up" ? "up" : "page";
  if ("failure" in result) return { [key]: { failure: result.failure.kind } };
  return { [key]: result.endpoint === "up" ? result.role : pageValue(result.page, impliedPage(cluster)) };
}

function pageValue(page: ExporterPage, implied: ExporterPage): IncidentValue {
  return {
    // The implied time advances with the clock of the file: it equals none that was read.
    ...writtenFields(pageFields, page, { ...implied, databaseTimeS: Number.NaN }),
    ...writtenFields(diskFields, page.disk, {}),
  };
}
