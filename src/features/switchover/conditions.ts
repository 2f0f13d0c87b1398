/** That rolecall holds the clients of a cluster whose leader was lost, as a condition. Free of Node. */
import { type Condition, type Found, oneCase } from "../../core/health/conditions/condition.ts";
import { countText, spanText } from "../../core/health/wording.ts";

/** Clients wait in poolers until a primary is accepted (`hold_on_loss`). */
export const clientsHeld = {
  id: "clients_held",
  title: "clients wait in poolers for a primary",
  harm: "stuck",
  status: {
    tellCase: ({ message, cause, sinceMs }) => ({
      condition: "degraded",
      wrong: message,
      cause,
      sinceMs: sinceMs ?? null,
      next: "they go on as soon as a primary is accepted",
      action: null,
      clause: message,
    }),
  },
  alerts: ["RolecallHoldFailed"],
} as const satisfies Condition<never>;

/** A hold after a loss that goes on. */
export interface KnownHold {
  /** The node that was lost. */
  readonly leader: string;
  /** Since when the first client waits, in ms of rolecall's clock. */
  readonly sinceMs: number;
  /** How long clients wait at most, in ms. */
  readonly limitMs: number;
  readonly poolers: number;
  /** The clients that were seen to wait last. */
  readonly clients: number;
}

/** @param hold `null`: none goes on. @param nowMs of rolecall's clock */
export function holdFound(cluster: string, hold: KnownHold | null, nowMs: number): readonly Found<never>[] {
  if (hold === null) return [];
  const { leader, sinceMs, limitMs, poolers, clients } = hold;
  const who = `${countText(poolers, "pooler")}, ${countText(clients, "client")}`;
  const message = `clients of ${cluster} wait since ${spanText(Math.max(0, nowMs - sinceMs))} (${who}; at most ${spanText(limitMs)})`;
  const found = oneCase({
    severity: "warning",
    message,
    cause: `${leader} does not serve, and no other primary is accepted yet`,
    figures: { poolers, clients, limit_ms: limitMs },
    sinceMs,
  });
  return [{ condition: clientsHeld, found }];
}
