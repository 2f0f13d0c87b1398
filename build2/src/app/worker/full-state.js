import { monotonicOriginMs } from "../../state/clock.js";
/** What a worker answers from, beside the relay: sent when it starts, and after a reload. */
export function fullStateOf({ monitor, config, phase }) {
    const { store, clock } = monitor;
    const { instance, sequence, clusters } = store.current;
    const originMs = monotonicOriginMs();
    return { config, instance, sequence, clusters, phase, clock: clock.observeReading(), originMs };
}
//# sourceMappingURL=full-state.js.map