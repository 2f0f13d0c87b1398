import type { IncidentCluster } from "../../../core/cluster/incident/incident-yaml.ts";
import type { Reading, Repetition } from "./reading.ts";

/** The context for reading a section of a step. */
export interface Surroundings {
  readonly of: IncidentCluster;
  readonly cluster: string;
  readonly nodes: readonly string[];
  readonly atMs: number;
  /** When the clock of the file was 0, in ms since the epoch; 0 if the file does not state it. */
  readonly beganWallMs: number;
  readonly sentAtMs: number;
  readonly repetition: Repetition;
}

/** The section's values by node. @throws Error that names a node missing from the file */
export function byNode(section: Reading, { nodes }: Surroundings): readonly (readonly [string, Reading])[] {
  section.mapping(nodes);
  return section.entries();
}
