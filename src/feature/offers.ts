import type { Balancers } from "../balancing/balancer.ts";
import type { FindAuditTargets } from "../balancing/audited/audit-target.ts";
import { Offer } from "./offer.ts";

/** The balancers that verdicts are sent to. */
export const balancers: Offer<Balancers> = new Offer();

/** The balancers and poolers whose traffic is audited. */
export const auditTargets: Offer<FindAuditTargets> = new Offer();
