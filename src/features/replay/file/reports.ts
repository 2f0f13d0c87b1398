import type { Report } from "../../../core/cluster/documents/report.ts";
import { reportFields } from "../../../core/cluster/evidence/evidence-fields.ts";
import { impliedReport } from "../../../core/cluster/incident/incident.ts";
import type { Failure } from "../../../core/cluster/values/failure.ts";
import { incidentKeys, readFailure, readFields } from "./read-fields.ts";
import type { Reading } from "./reading.ts";
import type { Surroundings } from "./surroundings.ts";

const reportKeys = [
  "failure",
  "lock",
  ...incidentKeys(reportFields).flatMap((key) => (key === "location" ? ["position", key] : [key])),
];

type Result = { readonly report: Report; readonly hasLock: boolean } | { readonly failure: Failure };

/**
 * Reads the result of one request for a node's status. `position` is short for the positions that a node of this kind
 * reports: a primary's location, or a replica's received and replayed positions, both equal.
 */
export function statusResult(node: string, section: Reading, { of, repetition }: Surroundings): Result {
  const value = section.mapping(reportKeys);
  if (!value("failure").isAbsent) {
    section.mapping(["failure"]);
    return { failure: readFailure(value("failure")) };
  }
  const hasLock = value("lock").flag(false);
  const implied = impliedReport(node, hasLock, of);
  const position = value("position").position(repetition);
  const isPrimary = (value("role").isAbsent ? implied.role : value("role").reported()) === "primary";
  const positions = isPrimary ? { location: position } : { received: position, replayed: position };
  return { report: readFields(reportFields, value, { implied: { ...implied, ...positions }, repetition }), hasLock };
}
