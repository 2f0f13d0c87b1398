import type { EventKind } from "../../core/events/cluster-event.ts";
import { poolerDown } from "../../features/pgbouncer/conditions.ts";
import { routesDiffer } from "../../features/audit/conditions.ts";
import { canaryAstray, canaryReadFailed, canaryUnfit, canaryWriteFailed } from "../../features/canary/conditions.ts";
import { serviceClaimed, serviceDiffers, serviceUnpublished } from "../../features/kubernetes/conditions.ts";
import { clientsHeld } from "../../features/switchover/conditions.ts";
import type { Condition } from "../../core/health/conditions/condition.ts";
import { conditions, foundConditions } from "../../core/health/conditions/conditions.ts";

/** The conditions that features bring, in the order in which references list their events. */
const featureConditions: readonly Condition<EventKind>[] = [
  routesDiffer,
  canaryAstray,
  canaryWriteFailed,
  canaryReadFailed,
  canaryUnfit,
  serviceUnpublished,
  serviceClaimed,
  serviceDiffers,
  poolerDown,
  clientsHeld,
];

/** Every condition: of the core, and of features. */
export const allConditions: readonly Condition<EventKind>[] = [...conditions, ...featureConditions];

/** Those that the log of events tells from their being found. */
export const eventConditions: readonly Condition<EventKind>[] = [
  ...foundConditions,
  ...featureConditions.filter(({ events }) => events !== undefined),
];
