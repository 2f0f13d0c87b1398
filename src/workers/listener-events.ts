import type { ListenerConfig } from "../config/model/config.ts";
import type { ListenerEvents } from "../http/listener/listener-events.ts";
import type { SentEvent } from "./messages.ts";

/** At most so many of those who were not let in are told of one by one within a span; a flood must not become a flood of messages. */
const toldMax = 50;
/** That span, in ms. */
const spanMs = 250;

/** What happens at the doors of a worker, told to the first process, which logs and counts it. */
export class ListenerEventFeed {
  readonly #send: (event: SentEvent) => void;
  readonly #timer: NodeJS.Timeout;
  #told = 0;
  /** How many more were not let in, by listener and status. */
  #untold = new Map<ListenerConfig, Map<number | null, number>>();

  constructor(send: (event: SentEvent) => void) {
    this.#send = send;
    this.#timer = setInterval(() => this.#turn(), spanMs).unref();
  }

  /** What one listener tells of. */
  of(listener: ListenerConfig): ListenerEvents {
    return {
      onError: (error, request) =>
        this.#send({ kind: "error", listener, problem: String(error instanceof Error ? error.stack : error), request }),
      onFiles: (problem) => this.#send({ kind: "files", listener, problem }),
      onRejected: ({ address, status, request }) => {
        this.#told += 1;
        if (this.#told <= toldMax) this.#send({ kind: "refused", listener, address, status, request, count: 1 });
        else this.#count(listener, status);
      },
    };
  }

  close(): void {
    clearInterval(this.#timer);
    this.#turn();
  }

  #count(listener: ListenerConfig, status: number | null): void {
    const counts = this.#untold.get(listener) ?? new Map<number | null, number>();
    counts.set(status, (counts.get(status) ?? 0) + 1);
    this.#untold.set(listener, counts);
  }

  #turn(): void {
    this.#told = 0;
    const untold = this.#untold;
    this.#untold = new Map();
    for (const [listener, counts] of untold) {
      for (const [status, count] of counts)
        this.#send({ kind: "refused", listener, address: "", status, request: null, count });
    }
  }
}

/** Tells in the first process what happened at a listener of the worker with this number. */
export function tellEvent(event: SentEvent, { onError, onFiles, onRejected }: ListenerEvents, worker: number): void {
  if (event.kind === "error") onError(event.problem, event.request);
  else if (event.kind === "refused") onRejected(event);
  // All workers read the same files: one tells of it.
  else if (worker === 0) onFiles(event.problem);
}
