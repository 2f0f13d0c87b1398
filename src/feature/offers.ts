import type { Balancers } from "../balancing/balancer.ts";
import type { FindAuditTargets } from "../balancing/audited/audit-target.ts";
import type { ClaimStore } from "../cluster/run-claim.ts";
import type { Past } from "../events/stored/past.ts";
import { Offer } from "./offer.ts";
import type { Passthrough } from "../http/message/passthrough.ts";
import type { ManagementCalls, SeamlessSwitchovers } from "./switchovers.ts";

/** The balancers that verdicts are sent to. */
export const balancers: Offer<Balancers> = new Offer();

/** The balancers and poolers whose traffic is audited. */
export const auditTargets: Offer<FindAuditTargets> = new Offer();

/** Switchovers during which clients wait. */
export const seamlessSwitchovers: Offer<SeamlessSwitchovers> = new Offer();

/** What sends calls to the management API of nodes. */
export const managementCalls: Offer<ManagementCalls> = new Offer();

/** What holds the claims of a fleet on the runs of its clusters; `null` while this process is in none. */
export const claimStores: Offer<() => ClaimStore | null> = new Offer();

/** Tells whether a change of a cluster's leader is pending in its DCS; `null` if it is not known. */
export const pendingChanges: Offer<(cluster: string) => Promise<boolean | null>> = new Offer();

/** What sends requests to nodes that cannot be answered from memory. */
export const passthroughs: Offer<Passthrough> = new Offer();

/** What keeps the past beyond the memory of this process. */
export const pasts: Offer<Past> = new Offer();
