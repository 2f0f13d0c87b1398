import type { ListenerConfig } from "../config/model/config.ts";
import type { ListenerEvents } from "../http/listener/listener-events.ts";
import type { SentEvent } from "./messages.ts";

/**
 * At most so many rejected requests are sent one by one in each period: a flood must not become a flood of messages.
 */
const sentMax = 50;
/** That period, in ms. */
const periodMs = 250;

/** Rejections that are sent together. */
interface Unsent {
  readonly status: number | null;
  readonly reason: string;
  readonly count: number;
}

/** Sends the events of a worker's listeners to the main process, which logs and counts them. */
export class ListenerEventFeed {
  readonly #send: (event: SentEvent) => void;
  #timer: NodeJS.Timeout | null = null;
  #sent = 0;
  /** How many more were rejected, by listener, and by status and reason. */
  #unsent = new Map<ListenerConfig, Map<string, Unsent>>();

  constructor(send: (event: SentEvent) => void) {
    this.#send = send;
  }

  start(): void {
    this.#timer ??= setInterval(() => this.#endPeriod(), periodMs).unref();
  }

  /** The events of one listener. */
  of(listener: ListenerConfig): ListenerEvents {
    return {
      onError: (error, request) =>
        this.#send({ kind: "error", listener, problem: String(error instanceof Error ? error.stack : error), request }),
      onFiles: (problem) => this.#send({ kind: "files", listener, problem }),
      onRejected: ({ address, status, reason, request }) => {
        this.#sent += 1;
        if (this.#sent <= sentMax)
          this.#send({ kind: "rejected", listener, address, status, reason, request, count: 1 });
        else this.#count(listener, { status, reason });
      },
    };
  }

  /** Sends what was counted so far, and stops. */
  close(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#endPeriod();
  }

  #count(listener: ListenerConfig, { status, reason }: Omit<Unsent, "count">): void {
    const counts = this.#unsent.get(listener) ?? new Map<string, Unsent>();
    const key = `${status} ${reason}`;
    counts.set(key, { status, reason, count: (counts.get(key)?.count ?? 0) + 1 });
    this.#unsent.set(listener, counts);
  }

  #endPeriod(): void {
    this.#sent = 0;
    const unsent = this.#unsent;
    this.#unsent = new Map();
    for (const [listener, counts] of unsent) {
      for (const counted of counts.values())
        this.#send({ kind: "rejected", listener, address: "", ...counted, request: null });
    }
  }
}

/** Raises in the main process an event of the worker with this number. */
export function replayEvent(event: SentEvent, { onError, onFiles, onRejected }: ListenerEvents, worker: number): void {
  if (event.kind === "error") onError(event.problem, event.request);
  else if (event.kind === "rejected") onRejected(event);
  // All workers read the same files: one of them reports it.
  else if (worker === 0) onFiles(event.problem);
}
