import type { FindPushTargets } from "../../core/balancing/balancer-set.ts";
import { haproxyPushTargets } from "../../features/haproxy/push-target.ts";
import { poolerPushTargets } from "../../features/pgbouncer/push-target.ts";

/** The balancers that the guardian process leads for one run: it opens no features. */
export const featurePushTargets: readonly FindPushTargets[] = [haproxyPushTargets, poolerPushTargets];
