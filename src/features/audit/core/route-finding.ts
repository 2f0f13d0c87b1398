import {
  type RouteFindingKind,
  routeFindingKinds,
  type RouteProgram,
} from "../../../core/balancing/audited/audit-target.ts";
import type { Road } from "./road.ts";

/** A balancer or pooler whose traffic differs from the snapshot, for longer than the mechanism takes that should move it. */
export interface RouteFinding {
  readonly kind: RouteFindingKind;
  /** The name of the balancer or pooler. */
  readonly target: string;
  readonly program: RouteProgram;
  /** The clusters that it concerns: one, unless the target as a whole cannot be read. */
  readonly clusters: readonly string[];
  /** The backend, database or Envoy cluster; `null` for the target as a whole. */
  readonly backend: string | null;
  /** Its server there, by the name that the target has for it; `null` if there is none. */
  readonly server: string | null;
  readonly node: string | null;
  /** Since when, in ms of rolecall's clock. */
  readonly sinceMs: number;
  /** What differs, as a sentence without its full stop. */
  readonly what: string;
  /** Whether no client can use the pool, although a node is fit. */
  readonly isUnusable: boolean;
  /** It is of a pool whose clients do not write. Absent: they do, or it is of the whole target. */
  readonly isOfReads?: true;
  /** What should have moved it. */
  readonly mechanism: string;
  /** What moves it now. */
  readonly command: string;
}

/** What is known of a target, for people. */
export interface AuditedTarget {
  readonly target: string;
  readonly program: RouteProgram;
  readonly address: string;
  readonly clusters: readonly string[];
  /** Whether the last look could read it; `null` before the first one. */
  readonly up: boolean | null;
  /** The age of the last look, in ms; `null` before the first one. */
  readonly lookedMsAgo: number | null;
  /** How long the last look took, in ms; `null` before the first one. */
  readonly tookMs: number | null;
  readonly problem: string | null;
  /** How many servers it had at the last look. */
  readonly servers: number;
  /** The clusters of which there is no evidence now, so that nothing of them was compared. */
  readonly unknown: readonly string[];
  /** The backends for which no node is fit: where they lead clients is neither right nor wrong. */
  readonly unled: readonly string[];
  readonly findings: readonly RouteFinding[];
  /** What differs, but not for long enough to be a finding. */
  readonly suspected: readonly RouteFinding[];
  /** The ways of clients through it, as the last look has seen them that could read it. */
  readonly roads: readonly Road[];
}

/** What a finding is about, for the beginning of a sentence: `lb1 orders_write/pg1`. */
export function routeFindingSubject({ target, backend, server }: RouteFinding): string {
  if (backend === null) return target;
  return server === null ? `${target} ${backend}` : `${target} ${backend}/${server}`;
}

/** What should have ended a finding, as a clause; for a target that cannot be read: where to look. @param kind its kind */
export function routeFindingBlame(kind: string, mechanism: string): string {
  if (kind === "unreachable") return `look at ${mechanism}`;
  return `${mechanism} should have ${kind === "missing" ? "mended" : "moved"} it`;
}

/** Orders findings: the worst first. Sessions at the wrong node are worse than none. */
export function routeFindingRank({ kind, isUnusable }: Pick<RouteFinding, "kind" | "isUnusable">): number {
  return kind === "misrouted" ? 0 : isUnusable ? 1 : 1 + routeFindingKinds.indexOf(kind);
}
