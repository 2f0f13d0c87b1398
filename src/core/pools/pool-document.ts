import type { Check } from "../health/check.ts";
import type { ClusterView } from "../health/evidence/leadership/cluster-view.ts";
import { shownLag } from "../health/evidence/position/present-lag.ts";
import { isSoft, type Reason } from "../health/reason.ts";
import { poolMembers, type PoolMember } from "./pool-members.ts";

/** A check over a cluster with a name. */
export interface NamedPool {
  readonly name: string;
  readonly cluster: string;
  readonly check: Check;
  /** The check as it is sent, without a node. */
  readonly checkText: string;
}

/** A pool as `GET /pools` shows it. */
export interface PoolDocument {
  readonly pool: string;
  readonly cluster: string;
  readonly check: string;
  /** How many members are fit. */
  readonly fit: number;
  /** Those that get clients first. */
  readonly members: readonly PoolMemberDocument[];
}

export interface PoolMemberDocument {
  readonly node: string;
  /** Where clients connect to; both are `null` if it is not known. */
  readonly host: string | null;
  readonly port: number | null;
  /** `null`: not known. */
  readonly zone: string | null;
  readonly fit: boolean;
  /** Whether anything is known for or against it now. If not, it is shown as it was: who follows it changes nothing. */
  readonly known: boolean;
  /** A yes that only keeps the pool from running empty, or relies on other evidence than the node's own. */
  readonly degraded: boolean;
  readonly reason: Reason | null;
  /** `hard`: its sessions should end, too; `soft`: it lives, but is not what was asked for. */
  readonly no: "hard" | "soft" | null;
  /** The figure behind the reason. */
  readonly figure: string | null;
  readonly lag_bytes: number | null;
  readonly lag_ms: number | null;
}

/** Describes a pool at the instant of a view. @returns also up to when that holds, in ms of rolecall's clock */
export function poolDocument(
  view: ClusterView,
  { name, cluster, check, checkText }: NamedPool,
): { readonly document: PoolDocument; readonly validUntilMs: number } {
  const { members, validUntilMs } = poolMembers(view, check);
  const document = {
    pool: name,
    cluster,
    check: checkText,
    fit: members.filter(({ verdict }) => verdict.fit).length,
    members: inOrderOfUse(members.map((member) => describe(view, member))),
  };
  return { document, validUntilMs };
}

/** What balancers need of a pool, as one text: it differs when they have to change something. */
export function poolKey({ check, members }: PoolDocument): string {
  return JSON.stringify([
    check,
    ...members
      .map(({ node, host, port, zone, fit, degraded, reason }) =>
        [node, host, port, zone, fit, degraded, reason].join(" "),
      )
      .toSorted(),
  ]);
}

/** Those that get clients first, and of these the least lagging first. */
function inOrderOfUse(members: readonly PoolMemberDocument[]): readonly PoolMemberDocument[] {
  const ranked = members.map((member) => ({ member, rank: rankOf(member), lag: member.lag_bytes ?? Infinity }));
  return ranked
    .toSorted((one, other) => one.rank - other.rank || (one.lag === other.lag ? 0 : one.lag - other.lag))
    .map(({ member }) => member);
}

function rankOf({ fit, no }: PoolMemberDocument): number {
  if (fit) return 0;
  return no === "soft" ? 1 : 2;
}

function describe(
  view: ClusterView,
  { observation, address, zone, verdict, isSilent }: PoolMember,
): PoolMemberDocument {
  const { bytes, timeMs } = shownLag(view, observation);
  return {
    node: observation.node.name,
    host: address?.host ?? null,
    port: address?.port ?? null,
    zone,
    fit: verdict.fit,
    known: !isSilent,
    degraded: verdict.fit && verdict.isDegraded,
    reason: verdict.fit ? null : verdict.reason,
    no: verdict.fit ? null : isSoft(verdict.reason) ? "soft" : "hard",
    figure: verdict.fit ? null : verdict.figure,
    lag_bytes: bytes,
    lag_ms: timeMs === null ? null : Math.round(timeMs),
  };
}
