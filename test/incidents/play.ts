import { parse } from "yaml";
import { viewAt, type ClusterView } from "../../src/core/health/evidence/leadership/cluster-view.ts";
import { readIncidentFile, type IncidentFile } from "../../src/features/replay/file/incident-file.ts";
import { stateAtBeginning, replay } from "../../src/features/replay/core/replay.ts";

/** Parses the YAML of an incident file. @throws Error that names an invalid value and its place */
export function readIncident(text: string, file: string): IncidentFile {
  return readIncidentFile(parse(text), file);
}

/** The final state of the cluster, for tests that check more than the file does. */
export function lastSight(incident: IncidentFile): ClusterView {
  let last = viewAt(stateAtBeginning(incident), incident.policy, 0);
  for (const { view } of replay(incident)) last = view;
  return last;
}
