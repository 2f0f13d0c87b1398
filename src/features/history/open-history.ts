import type { Host, Opened } from "../../feature/feature.ts";
import { pasts } from "../../feature/offers.ts";
import type { Scope } from "../../feature/scope.ts";
import { HistoryStore } from "./store/history-store.ts";

/** The open history. */
export interface RunningHistory extends Opened {
  readonly store: HistoryStore;
}

/** How long writing what waits may take at the end, in ms. */
const endMaxMs = 3_000;

/** Opens the history: what happens is written from now on, and what was written is read on request. */
export function openHistory(
  { log, now, wall, snapshot, policy, offers, contained }: Host,
  scope: Scope,
): RunningHistory {
  const store = new HistoryStore({ log, now, wall, snapshot, policy });
  let ready: Promise<void> = Promise.resolve();
  scope.hold("the files of the history", () => store.stop(), endMaxMs);
  scope.hold("what is offered", pasts.bring(offers, store));
  return {
    store,
    configure: ({ history }) => {
      const { directory } = history;
      const configured = store.configure(directory === null ? null : { ...history, directory });
      ready = configured.catch((error: unknown) => contained(error, {}));
    },
    get ready() {
      return ready;
    },
  };
}
