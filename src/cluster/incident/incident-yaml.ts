import { formatLsn } from "../values/lsn.ts";

/** A plain value of an incident file. */
export type IncidentValue =
  string | number | boolean | null | readonly IncidentValue[] | { readonly [key: string]: IncidentValue };

/** What an incident's reports say of their cluster where they say nothing else. */
export interface IncidentCluster {
  readonly scope: string | null;
  readonly system: string | null;
  readonly version: string | null;
  /** Node name -> the member name that the node states, where it is another. */
  readonly members: ReadonlyMap<string, string>;
  /** API base address -> member name: a leader that a document names otherwise is found by its address. */
  readonly memberAt?: ReadonlyMap<string, string>;
}

/** A key and its value, unless it is what holds anyway: the fewer words, the better a person sees what was wrong. */
export function otherThan<T extends string | number | boolean | null>(
  key: string,
  value: T,
  ordinary: T,
): { readonly [key: string]: T } {
  return value === ordinary ? {} : { [key]: value };
}

/** A key and a WAL position, in bytes; nothing where it was not stated. */
export function position(key: string, value: number | null): { readonly [key: string]: string } {
  return value === null ? {} : { [key]: formatLsn(value) };
}

/** To the microsecond: whether a document was asked for before or after a claim appeared can hang on less than a millisecond. */
export function incidentDuration(ms: number): string {
  return `${Math.round(ms * 1000) / 1000}ms`;
}
