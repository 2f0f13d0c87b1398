import { pauseName } from "../machine/plan.ts";
import type { SwitchoverRun } from "../run/switchover-run.ts";
import { type HoldingRun, positionOf } from "./loss-watch.ts";

/** How old a look at a pooler may be that shows that it refuses its clients, in ms: until the next look at it. */
const freshMs = 30;

/**
 * A run that holds clients after a loss, as the watch tells it of poolers.
 * @param waiting gets the clients of each target that were seen to wait, the most of all looks
 * @param now in ms of rolecall's clock
 */
export function holdingRunOf(
  run: Pick<SwitchoverRun, "plan" | "happened" | "decided" | "released" | "heldMs">,
  waiting: Map<string, number>,
  now: () => number,
): HoldingRun {
  const seenMs = new Map<number, number>();
  const tell = (target: number): void => run.happened({ kind: "unserved", target });
  // What was seen right before the run was ready is not looked at once more: clients are refused meanwhile.
  const tellAgain = (): void => {
    for (const [at, ms] of seenMs) if (now() - ms <= freshMs) tell(at);
  };
  void run.decided.then(tellAgain);
  return {
    unserved: (target, clients) => {
      const name = pauseName(target);
      waiting.set(name, Math.max(waiting.get(name) ?? 0, clients));
      const at = positionOf(run.plan.targets, target);
      if (at === null) return;
      seenMs.set(at, now());
      tell(at);
    },
    ended: run.released.then(() => run.heldMs.some((ms) => ms !== null)),
  };
}
