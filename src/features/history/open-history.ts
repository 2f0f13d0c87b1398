import type { Host, Opened } from "../../core/feature/feature.ts";
import { pasts } from "../../core/feature/offers.ts";
import type { Scope } from "../../core/feature/scope.ts";
import { LagMinutes } from "./lag-minutes.ts";
import { HistoryStore } from "./store/history-store.ts";

/** The open history. */
export interface RunningHistory extends Opened {
  readonly store: HistoryStore;
}

/** How long writing what waits may take at the end, in ms. */
const endMaxMs = 3_000;

/** Opens the history: what happens is written from now on, and what was written is read on request. */
export function openHistory(
  { log, now, wall, snapshot, cluster, policy, offers, contained }: Host,
  scope: Scope,
): RunningHistory {
  const store = new HistoryStore({ log, now, wall, snapshot, policy });
  const lag = new LagMinutes({ policy, now, wall, onMinute: (minute) => store.addLag(minute) });
  let ready: Promise<void> = Promise.resolve();
  scope.hold("the files of the history", () => store.stop(), endMaxMs);
  scope.hold("what is offered", pasts.bring(offers, store));
  return {
    store,
    configure: ({ history, clusters }) => {
      lag.retain(clusters.map(({ name }) => name));
      const { directory } = history;
      const configured = store.configure(directory === null ? null : { ...history, directory });
      ready = configured.catch((error: unknown) => contained(error, {}));
    },
    clusterChanged(name) {
      const state = cluster(name);
      if (state !== undefined) lag.sample(state);
    },
    get ready() {
      return ready;
    },
  };
}
