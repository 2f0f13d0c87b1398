import { byteSizeAllowed, parseByteSize } from "../cluster/values/byte-size.ts";
import { parseDuration } from "../cluster/values/duration.ts";
import { parseZones, zonesAllowed } from "../cluster/values/zone.ts";
import { companionsAllowed, parseCompanions } from "../cluster/values/companion-name.ts";
import { parseLsn } from "../cluster/values/lsn.ts";
import type { DatabaseAddress } from "../cluster/node.ts";
import type { Route } from "./route.ts";

/** A parsed health check. Limits that the check does not set are `null`. */
export interface Check {
  readonly route: Route;
  readonly lagBytesMax: number | null;
  readonly lagTimeMsMax: number | null;
  /** Read your writes: the position that must have been replayed, with its timeline if the check gives one. */
  readonly minLsn: WalFloor | null;
  readonly replicationState: string | null;
  readonly mode: "apply" | "write";
  /** Tag name -> the value it must have. */
  readonly tags: readonly (readonly [string, string])[];
  /** The database address that the balancer uses. */
  readonly database: DatabaseAddress | null;
  /** How many of the least lagging nodes a lag limit never removes. */
  readonly keep: number;
  readonly fallbackPrimary: boolean;
  /** While a node of one of these zones is fit, those of others are not; empty: zones do not matter. */
  readonly zones: readonly string[];
  /** The companions that must answer beside the node. */
  readonly companions: readonly string[];
  /**
   * Whether the check asks if the open sessions of a node may live, and not if it may take new ones. Limits and the
   * statuses below do not matter then.
   */
  readonly isForSessions: boolean;
  /** The status of a soft no. */
  readonly missStatus: number;
  /** The status for a node that is down, stale or unknown. */
  readonly unknownStatus: number;
}

/** A WAL position that a node must have replayed. */
export interface WalFloor {
  /** `null` if the check compares bare positions. */
  readonly timeline: number | null;
  readonly position: number;
}

/** A request that cannot be parsed. Always answered with 400. */
export interface ParseError {
  /** What is wrong, such as `parameter lag`. */
  readonly subject: string;
  readonly value: string;
  readonly allowed: string;
}

export type ParsedCheck =
  { readonly ok: true; readonly check: Check } | { readonly ok: false; readonly problem: ParseError };

/** A listener's rules for the parameters of a check. */
export interface CheckRules {
  readonly ignoreParams: readonly string[];
  /** Whether unknown parameters are ignored. A listener bound to one node ignores them, as nodes do. */
  readonly ignoresUnknown: boolean;
  /** Default parameters, as a query. */
  readonly defaults: string;
  /** The smallest measurable `lag_time`: two probe intervals, in ms. */
  readonly lagTimeMsMin: number;
}

/** Returns the check of a route without parameters. */
export function plainCheck(route: Route): Check {
  return {
    route,
    lagBytesMax: null,
    lagTimeMsMax: null,
    minLsn: null,
    replicationState: null,
    mode: "apply",
    tags: [],
    database: null,
    keep: 0,
    fallbackPrimary: false,
    zones: [],
    companions: [],
    isForSessions: false,
    missStatus: 503,
    unknownStatus: 503,
  };
}

/**
 * Parses the parameters of a check. Nodes ignore a key with an empty value, and so does this function, except for
 * limits: an empty `lag=` must not mean "no limit". The first value of a repeated key wins, as on nodes; but a limit
 * that is given twice, even with equal values, is an error where unknown parameters are.
 * @param query the part of the target after `?`, percent-encoded
 */
export function parseCheck(route: Route, query: string, rules: CheckRules): ParsedCheck {
  let check = plainCheck(route);
  const seen = new Map<string, string>();
  const own = [...new URLSearchParams(query)];
  // The first value of a key wins, so the check's own parameters come before the defaults.
  for (const [at, [key, value]] of [...own, ...new URLSearchParams(rules.defaults)].entries()) {
    if (rules.ignoreParams.includes(key)) continue;
    const first = seen.get(key);
    if (first !== undefined) {
      const isRepeatedLimit = at < own.length && parameters.get(key)?.isLimit === true;
      if (!isRepeatedLimit || rules.ignoresUnknown) continue;
      return rejected({ subject: `parameter ${key}`, value, allowed: `given once (it is ${first} already)` });
    }
    seen.set(key, value);
    if (key.startsWith("tag_")) {
      if (value !== "") check = { ...check, tags: [...check.tags, [key.slice(4), value]] };
      continue;
    }
    const parameter = parameters.get(key);
    if (parameter === undefined) {
      if (rules.ignoresUnknown) continue;
      return rejected({
        subject: `parameter ${key}`,
        value,
        allowed: `one of ${[...parameters.keys()].join(", ")}, tag_<name>`,
      });
    }
    if (value === "" && !parameter.isLimit) continue;
    const read = parameter.read(value);
    if (read === undefined) return rejected({ subject: `parameter ${key}`, value, allowed: parameter.allowed });
    check = { ...check, ...read };
  }
  if (check.lagTimeMsMax !== null && check.lagTimeMsMax < rules.lagTimeMsMin) {
    const allowed = `at least ${rules.lagTimeMsMin}ms, two probe intervals: the resolution of lag`;
    return rejected({ subject: "parameter lag_time", value: `${check.lagTimeMsMax}ms`, allowed });
  }
  return { ok: true, check };
}

/** Refuses `for=sessions` in a check of a whole cluster: sessions are those of one node. */
export function ofWholeCluster(parsed: ParsedCheck): ParsedCheck {
  return withoutSessions(parsed, "used with a check of one node, whose sessions it is about");
}

/** Refuses `for=sessions` in a check by which rolecall itself gives new sessions to servers. */
export function ofNewSessions(parsed: ParsedCheck): ParsedCheck {
  return withoutSessions(parsed, "left out, because this check decides which servers get new sessions");
}

/**
 * Refuses companions that the cluster of the check does not have.
 * @param known the names of those that it has
 */
export function ofKnownCompanions(parsed: ParsedCheck, known: readonly string[]): ParsedCheck {
  if (!parsed.ok || parsed.check.companions.every((name) => known.includes(name))) return parsed;
  const allowed =
    known.length === 0
      ? "left out, because the cluster has no companions"
      : `one or more companions of the cluster, with commas between: ${known.join(", ")}`;
  return rejected({ subject: "parameter with", value: parsed.check.companions.join(","), allowed });
}

function withoutSessions(parsed: ParsedCheck, allowed: string): ParsedCheck {
  const isForSessions = parsed.ok && parsed.check.isForSessions;
  return isForSessions ? rejected({ subject: "parameter for", value: "sessions", allowed }) : parsed;
}

function rejected(problem: ParseError): ParsedCheck {
  return { ok: false, problem };
}

/** Parses `host:port` or `[v6]:port`. Returns `undefined` if it is neither. */
export function parseDatabaseAddress(text: string): DatabaseAddress | undefined {
  const match = /^(?:\[([0-9a-f:.]+)\]|([^\s:/[\]]+)):(\d{1,5})$/i.exec(text);
  const host = match?.[1] ?? match?.[2];
  const port = Number(match?.[3]);
  return host === undefined || port < 1 || port > 65_535 ? undefined : { host, port };
}

interface Parameter {
  readonly allowed: string;
  /** Whether an empty value is an error rather than ignored. */
  readonly isLimit?: boolean;
  read(value: string): Partial<Check> | undefined;
}

const parameters: ReadonlyMap<string, Parameter> = new Map<string, Parameter>([
  ["lag", { allowed: byteSizeAllowed, isLimit: true, read: (value) => field("lagBytesMax", parseByteSize(value)) }],
  [
    "lag_time",
    {
      allowed: "a time such as 500ms, 5s, 2min, 1h",
      isLimit: true,
      read: (value) => field("lagTimeMsMax", parseDuration(value)),
    },
  ],
  [
    "min_lsn",
    {
      allowed:
        "a WAL position such as 0/3000148, or one with its timeline such as 4@0/3000148 " +
        "(timelines from 1 to 4294967295)",
      isLimit: true,
      read: (value) => field("minLsn", parseWalFloor(value)),
    },
  ],
  [
    "replication_state",
    { allowed: "a replication state such as streaming", read: (value) => ({ replicationState: value }) },
  ],
  [
    "mode",
    {
      allowed: "apply or write",
      read: (value) => (value === "apply" || value === "write" ? { mode: value } : undefined),
    },
  ],
  [
    "db",
    {
      allowed: "host:port of the database",
      isLimit: true,
      read: (value) => field("database", parseDatabaseAddress(value)),
    },
  ],
  [
    "keep",
    {
      allowed: "a whole number from 1 to 1000",
      isLimit: true,
      read: (value) => field("keep", parseWhole(value, [1, 1000])),
    },
  ],
  [
    "fallback",
    {
      allowed: "primary",
      isLimit: true,
      read: (value) => (value === "primary" ? { fallbackPrimary: true } : undefined),
    },
  ],
  ["zone", { allowed: zonesAllowed, isLimit: true, read: (value) => field("zones", parseZones(value)) }],
  ["with", { allowed: companionsAllowed, isLimit: true, read: (value) => field("companions", parseCompanions(value)) }],
  [
    "for",
    {
      allowed: "sessions",
      isLimit: true,
      read: (value) => (value === "sessions" ? { isForSessions: true } : undefined),
    },
  ],
  [
    "miss",
    {
      allowed: "a status from 400 to 599",
      isLimit: true,
      read: (value) => field("missStatus", parseWhole(value, [400, 599])),
    },
  ],
  [
    "unknown",
    {
      allowed: "a status from 400 to 599",
      isLimit: true,
      read: (value) => field("unknownStatus", parseWhole(value, [400, 599])),
    },
  ],
]);

/** Returns the names of all parameters but `tag_<name>`, for documentation and tests. */
export function parameterNames(): readonly string[] {
  return [...parameters.keys()];
}

function field<K extends keyof Check>(key: K, value: Check[K] | undefined): Partial<Check> | undefined {
  if (value === undefined) return undefined;
  const read: Partial<Check> = {};
  read[key] = value;
  return read;
}

/** PostgreSQL counts timelines in 32 bits, from 1. */
const timelineMax = 2 ** 32 - 1;

function parseWalFloor(text: string): WalFloor | undefined {
  const match = /^(?:(\d{1,10})@)?([^@]+)$/.exec(text);
  const position = parseLsn(match?.[2] ?? "");
  const timeline = match?.[1] === undefined ? null : Number(match[1]);
  if (position === undefined || (timeline !== null && (timeline < 1 || timeline > timelineMax))) return undefined;
  return { timeline, position };
}

function parseWhole(text: string, [least, most]: readonly [number, number]): number | undefined {
  const value = /^\d{1,4}$/.test(text) ? Number(text) : Number.NaN;
  return value >= least && value <= most ? value : undefined;
}
