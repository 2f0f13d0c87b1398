import type { Config } from "../config/model/config.ts";
import type { Balancers } from "../balancing/balancer.ts";
import type { FindAuditTargets } from "../balancing/audited/audit-target.ts";
import type { Past } from "../events/stored/past.ts";
import type { OpenDcsSource } from "../dcs/dcs-source.ts";
import { Offer } from "./offer.ts";
import type { Passthrough } from "../http/message/passthrough.ts";
import type { NodeFinder } from "../probe/client/node-finder.ts";
import type { ProbeBringer } from "../probe/client/probe-context.ts";
import type { ManagementCalls, SeamlessSwitchovers } from "./switchovers.ts";
import type { ClusterSharing, EvidenceBringer, RunClaims, SharedDrains } from "./shared-evidence.ts";

/** The balancers that verdicts are sent to. */
export const balancers: Offer<Balancers> = new Offer();

/** The balancers and poolers whose traffic is audited. */
export const auditTargets: Offer<FindAuditTargets> = new Offer();

/** How long the Envoys that verdicts are sent to may take to follow one, in ms: one for each listener. */
export const pushedEnvoyDelays: Offer<(config: Config) => readonly number[]> = new Offer();

/** Switchovers during which clients wait. */
export const seamlessSwitchovers: Offer<SeamlessSwitchovers> = new Offer();

/** What sends calls to the management API of nodes. */
export const managementCalls: Offer<ManagementCalls> = new Offer();

/** What opens the keys of clusters in a DCS of one kind, where the watch of the leader reads them. */
export const dcsSources: Offer<OpenDcsSource> = new Offer();

/** Tells whether a change of a cluster's leader is pending in its DCS; `null` if it is not known. */
export const pendingChanges: Offer<(cluster: string) => Promise<boolean | null>> = new Offer();

/** What sends requests to nodes that cannot be answered from memory. */
export const passthroughs: Offer<Passthrough> = new Offer();

/** What probes nodes besides their APIs. */
export const nodeProbes: Offer<ProbeBringer> = new Offer();

/** What finds the nodes that an address of `discover` stands for: one for each kind of such addresses. */
export const nodeFinders: Offer<NodeFinder> = new Offer();

/** What keeps the past beyond the memory of this process. */
export const pasts: Offer<Past> = new Offer();

/** What brings the evidence of clusters that are not probed here. */
export const evidenceBringers: Offer<EvidenceBringer> = new Offer();

/** What says who probes the clusters that instances share. */
export const clusterSharings: Offer<ClusterSharing> = new Offer();

/** Where drains are ordered of clusters that other instances probe. */
export const sharedDrains: Offer<SharedDrains> = new Offer();

/** Who grants switchovers, besides the peers. */
export const runClaims: Offer<RunClaims> = new Offer();
