import { diskFields, pageFields } from "../../../core/cluster/evidence/evidence-fields.ts";
import { exporterRoles, type ExporterPage } from "../../../core/cluster/exporter/exporter-report.ts";
import type { Failure } from "../../../core/cluster/values/failure.ts";
import { impliedPage } from "../../../core/cluster/incident/incident-exporter.ts";
import type { ExporterOutcome } from "../../../core/cluster/outcome.ts";
import { incidentKeys, readFailure, readFields } from "./read-fields.ts";
import type { Reading } from "./reading.ts";
import type { Surroundings } from "./surroundings.ts";

/** Reads the results of one node's exporter: its status, a page of metrics, or both, in this order. */
export function exporterOutcomes(node: string, section: Reading, context: Surroundings): readonly ExporterOutcome[] {
  const { cluster, sentAtMs, beganWallMs } = context;
  const value = section.mapping(["up", "page"]);
  const outcome = { kind: "exporter", cluster, node, sentAtMs, sentAtWallMs: beganWallMs + sentAtMs } as const;
  const outcomes: ExporterOutcome[] = [];
  const [up, page] = [value("up"), value("page")];
  if (!up.isAbsent)
    outcomes.push({
      ...outcome,
      result: up.isText
        ? { endpoint: "up", role: up.oneOf(exporterRoles) }
        : { endpoint: "up", failure: failureOf(up) },
    });
  if (!page.isAbsent) {
    const isFailed = page.entries().some(([key]) => key === "failure");
    outcomes.push({
      ...outcome,
      result: isFailed
        ? { endpoint: "metrics", failure: failureOf(page) }
        : { endpoint: "metrics", page: pageOf(page, context) },
    });
  }
  return outcomes;
}

function failureOf(section: Reading): Failure {
  return readFailure(section.mapping(["failure"])("failure"));
}

const pageKeys = [
  ...incidentKeys(pageFields).flatMap((key) => (key === "written" ? ["position", key] : [key])),
  ...incidentKeys(diskFields),
];

function pageOf(section: Reading, { of, sentAtMs, repetition }: Surroundings): ExporterPage {
  const value = section.mapping(pageKeys);
  const implied = { ...impliedPage(of), databaseTimeS: sentAtMs / 1_000 };
  const position = value("position").position(repetition);
  const isInRecovery = !value("in_recovery").isNull && value("in_recovery").flag(false);
  const positions = isInRecovery ? { received: position, replayed: position } : { written: position };
  return {
    ...readFields(pageFields, value, { implied: { ...implied, ...positions }, repetition }),
    disk: readFields(diskFields, value, { implied: {}, repetition }),
  };
}
