import { formatLsn } from "../values/lsn.ts";

/** The version of the format of incident files. */
export const incidentFormat = 1;

/** A value in an incident file. */
export type IncidentValue =
  string | number | boolean | null | readonly IncidentValue[] | { readonly [key: string]: IncidentValue };

/** The cluster that the reports of an incident belong to, unless they state otherwise. */
export interface IncidentCluster {
  readonly scope: string | null;
  readonly system: string | null;
  readonly version: string | null;
  /** Node name -> the member name that the node reports, if it differs. */
  readonly members: ReadonlyMap<string, string>;
  /** API base address -> member name, for leaders that a document names differently. */
  readonly memberAt?: ReadonlyMap<string, string>;
}

/** Returns `{[key]: value}`, or `{}` if the value is the default: a short file shows better what was wrong. */
export function otherThan<T extends string | number | boolean | null>(
  key: string,
  value: T,
  implied: T,
): { readonly [key: string]: T } {
  return value === implied ? {} : { [key]: value };
}

/** Returns `{[key]: position}` for a WAL position in bytes, written as `X/X`; `{}` for `null`. */
export function position(key: string, value: number | null): { readonly [key: string]: string } {
  return value === null ? {} : { [key]: formatLsn(value) };
}

/**
 * Formats a duration to the microsecond: a document may be requested less than a millisecond before or after a claim
 * appears.
 */
export function incidentDuration(ms: number): string {
  return `${Math.round(ms * 1000) / 1000}ms`;
}
