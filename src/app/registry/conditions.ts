import type { EventKind } from "../../events/cluster-event.ts";
import { routesDiffer } from "../../features/audit/conditions.ts";
import type { Condition } from "../../health/conditions/condition.ts";
import { conditions, foundConditions } from "../../health/conditions/conditions.ts";

/** The conditions that features bring, in the order in which references list their events. */
const featureConditions: readonly Condition<EventKind>[] = [routesDiffer];

/** Every condition: of the core, and of features. */
export const allConditions: readonly Condition<EventKind>[] = [...conditions, ...featureConditions];

/** Those that the log of events tells from their being found. */
export const eventConditions: readonly Condition<EventKind>[] = [...foundConditions, ...featureConditions];
