import type { Balancers } from "../balancing/balancer.ts";
import type { FindAuditTargets } from "../balancing/audited/audit-target.ts";
import { Offer } from "./offer.ts";
import type { ClusterSharing, EvidenceBringer, RunClaims, SharedDrains } from "./shared-evidence.ts";

/** The balancers that verdicts are sent to. */
export const balancers: Offer<Balancers> = new Offer();

/** The balancers and poolers whose traffic is audited. */
export const auditTargets: Offer<FindAuditTargets> = new Offer();

/** What brings the evidence of clusters that are not probed here. */
export const evidenceBringers: Offer<EvidenceBringer> = new Offer();

/** What says who probes the clusters that instances share. */
export const clusterSharings: Offer<ClusterSharing> = new Offer();

/** Where drains are ordered of clusters that other instances probe. */
export const sharedDrains: Offer<SharedDrains> = new Offer();

/** Who grants switchovers, besides the peers. */
export const runClaims: Offer<RunClaims> = new Offer();
