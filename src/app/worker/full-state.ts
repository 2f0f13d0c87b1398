import type { Config } from "../../core/config/model/config.ts";
import { monotonicOriginMs, type Clock } from "../../core/state/clock.ts";
import type { Store } from "../../core/state/store.ts";
import type { FullState, Phase } from "../../core/workers/messages.ts";

/** What the state of a worker is made of. */
export interface FullStateParts {
  readonly monitor: { readonly clock: Clock; readonly store: Store };
  readonly config: Config;
  readonly phase: Phase;
}

/** What a worker answers from, in addition to the relay: sent when it starts. */
export function fullStateOf({ monitor, config, phase }: FullStateParts): Omit<FullState, "relay"> {
  const { store, clock } = monitor;
  const { instance, sequence, clusters } = store.current;
  const originMs = monotonicOriginMs();
  return { config, instance, sequence, clusters, phase, clock: clock.observeReading(), originMs };
}
