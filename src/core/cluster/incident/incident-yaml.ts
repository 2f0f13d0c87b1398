import type { Since } from "../evidence/fields.ts";

/** The versions of the format of incident files. A file has the lowest that has what is in it. */
export const incidentFormats: readonly IncidentFormat[] = [1, 2];
export type IncidentFormat = Since;

/** The later of two formats: a file has what both have. */
export function laterFormat(one: IncidentFormat, other: IncidentFormat): IncidentFormat {
  return one > other ? one : other;
}

/** A value in an incident file. */
export type IncidentValue = string | number | boolean | null | readonly IncidentValue[] | IncidentMapping;

/** A mapping in an incident file. */
export interface IncidentMapping {
  readonly [key: string]: IncidentValue;
}

/** The cluster that the reports of an incident belong to, unless they state otherwise. */
export interface IncidentCluster {
  readonly scope: string | null;
  readonly system: string | null;
  readonly version: string | null;
  /** Node name -> the member name that the node reports, if it differs. */
  readonly members: ReadonlyMap<string, string>;
  /** API base address -> member name, for leaders that a document names differently. */
  readonly memberAt?: ReadonlyMap<string, string>;
  /**
   * The nodes whose database has started anew in the time of the file; absent: not known. Starts are only compared, so
   * those of other nodes say nothing, and are left out.
   */
  readonly restarted?: ReadonlySet<string>;
}

/** Returns `{[key]: value}`, or `{}` if the value is the default: a short file shows better what was wrong. */
export function otherThan<T extends string | number | boolean | null>(
  key: string,
  value: T,
  implied: T,
): { readonly [key: string]: T } {
  return value === implied ? {} : { [key]: value };
}

/**
 * Formats a duration to the microsecond: a document may be requested less than a millisecond before or after a claim
 * appears.
 */
export function incidentDuration(ms: number): string {
  return `${Math.round(ms * 1000) / 1000}ms`;
}
