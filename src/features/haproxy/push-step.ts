import type { ServerChange, ServerTarget } from "../../core/balancing/server-change.ts";
import type { ServerState } from "./server-state.ts";

/**
 * What came of a change: `pushed`; `unchanged`, the server was so already; `reserved`, an operator has it in
 * maintenance or drains it; `unchecked`, HAProxy does not check the server; `missing`, there is no such backend or
 * server; `refused` by HAProxy.
 */
export type PushOutcome = "pushed" | "unchanged" | "reserved" | "unchecked" | "missing" | "refused";

/** The commands that apply one change; if there are none, why. */
export interface PushStep {
  readonly change: ServerChange;
  /** Set the health and the weight of the server. */
  readonly sets: readonly string[];
  /** Closes its sessions; `null`: they go on. */
  readonly cut: string | null;
  readonly outcome: PushOutcome;
}

const healthOf = { up: "up", drain: "stopping", down: "down" } as const;

/**
 * Decides which commands apply a change to a server. Pure.
 * @param state `undefined` if there is no such server
 */
export function pushStep(change: ServerChange, state: ServerState | undefined): PushStep {
  const none = (outcome: PushOutcome): PushStep => ({ change, sets: [], cut: null, outcome });
  if (state === undefined) return none("missing");
  if (state.isReserved) return none("reserved");
  if (!state.isChecked) return none("unchecked");
  const server = `${change.backend}/${change.server}`;
  const health = change.target === null || isReached(change.target, state) ? [] : [healthOf[change.target]];
  const weight = weightOf(change, state);
  const sets = [
    ...(weight === null ? [] : [`set server ${server} weight ${weight}`]),
    ...health.map((word) => `set server ${server} health ${word}`),
  ];
  const cut = change.cutsSessions ? `shutdown sessions server ${server}` : null;
  return { change, sets, cut, outcome: sets.length === 0 && cut === null ? "unchanged" : "pushed" };
}

/** Orders steps: servers leave before others enter, so that no instant has two primaries. */
export function inPushOrder(steps: readonly PushStep[]): readonly PushStep[] {
  const rank = { down: 0, drain: 1, up: 2, none: 3 };
  return steps.toSorted((one, other) => rank[one.change.target ?? "none"] - rank[other.change.target ?? "none"]);
}

/**
 * The weight to set, or `null` if it is so already. It is absolute, because HAProxy rounds a percentage of a small
 * weight down to 0, which would drain the server.
 */
function weightOf({ weight }: ServerChange, { weight: current, initialWeight }: ServerState): number | null {
  if (weight === null || initialWeight === 0) return null;
  const wanted = Math.max(1, Math.round((initialWeight * weight) / 100));
  return wanted === current ? null : wanted;
}

/** Whether the server is so already. Writing it again would reset what HAProxy's checks have counted since. */
function isReached(target: ServerTarget, { operational, checkHealth }: ServerState): boolean {
  switch (target) {
    case "up":
      return operational === "running" || operational === "starting";
    case "drain":
      return operational === "stopping" || operational === "stopped";
    case "down":
      return operational === "stopped" && checkHealth === 0;
  }
}
