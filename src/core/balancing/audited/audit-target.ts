import type { DatabaseAddress } from "../../cluster/node.ts";
import type { Config } from "../../config/model/config.ts";
import type { Check } from "../../health/check.ts";
import type { RouteSource } from "./route-source.ts";

/** How the traffic of a balancer or pooler may differ from the snapshot; docs/audit.md explains each. */
export const routeFindingKinds = ["misrouted", "starved", "missing", "unreachable"] as const;

export type RouteFindingKind = (typeof routeFindingKinds)[number];

/** The programs that lead clients to nodes, in the order in which they are shown. */
export const routePrograms = ["haproxy", "pgbouncer", "envoy"] as const;

export type RouteProgram = (typeof routePrograms)[number];

/** A check over a cluster whose verdicts are followed. */
export interface FollowedCheck {
  readonly cluster: string;
  readonly check: Check;
}

/** A pool of a target, as the configuration names it. */
export interface AuditedPool {
  /** The backend, database or Envoy cluster. */
  readonly backend: string;
  readonly cluster: string;
  /** Whether at most one node is fit. */
  readonly isOfPrimary: boolean;
  /** Server name -> node name; `null`: a server has the name of its node. */
  readonly servers: Readonly<Record<string, string>> | null;
  /** Whether a target lists each member, so that one that it lacks is a finding: `all`; `fit`, those that are fit. */
  readonly lists: "all" | "fit" | "none";
  /** Whether each of its servers must be a member: not so where a database leads to another balancer. */
  readonly hasOnlyMembers: boolean;
  /** Whether sessions may stay after a soft no. A pooler uses a connection again for each transaction. */
  readonly keepsSessions: boolean;
}

/** A difference that lasts, before the words on what moves it. */
export interface RouteDifference {
  readonly kind: RouteFindingKind;
  /** `null`: the target as a whole. */
  readonly pool: AuditedPool | null;
  readonly server: string | null;
  readonly node: string | null;
  readonly sinceMs: number;
  readonly what: string;
  /** Whether open sessions must end, not only new ones go elsewhere. */
  readonly isStaying: boolean;
  /** Whether the target sends new sessions there on purpose, by its route. */
  readonly leadsThere: boolean;
  /** Where a server that has the name of a member and leads elsewhere should lead to; otherwise `null`. */
  readonly belongsAt: DatabaseAddress | null;
  /** Whether the target itself checks the server. */
  readonly isChecked: boolean;
  /** Why nothing can begin on the server at all; `null`: something can. */
  readonly closed: string | null;
  /** Whether no client can use the pool, although a node is fit. */
  readonly isUnusable: boolean;
}

/** What should move the traffic of a target, and what moves it now. */
export interface RouteAdvice {
  /** What should have moved it. */
  readonly mechanism: string;
  /** What moves it now. */
  readonly command: string;
}

/** The command that looks at a target as a whole. */
export const doctorCommand = "rolecall doctor --config FILE";

/** A balancer or pooler that is looked at. */
export interface AuditTarget {
  /** Its name, which no other one has. */
  readonly name: string;
  readonly program: RouteProgram;
  /** Where it is looked at, for people. */
  readonly address: string;
  readonly pools: readonly (AuditedPool & FollowedCheck)[];
  readonly source: RouteSource;
  /** Whether its servers are compared with verdicts. */
  readonly needsVerdicts: boolean;
  readonly advise: (difference: RouteDifference) => RouteAdvice;
  /** What identifies it over reloads: one that stays keeps what is remembered of it. */
  readonly key: string;
}

/** The balancers and poolers of a configuration that are looked at. Several kinds of balancers bring some. */
export type FindAuditTargets = (config: Config) => readonly AuditTarget[];

/** How long one look at a target may take, in ms. */
export const lookLimitMs = 2_000;
