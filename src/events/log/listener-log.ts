import type { ListenerConfig } from "../../config/model/config.ts";
import type { ListenerEvents } from "../../http/listener/listener-events.ts";
import { safeMethods, type Request } from "../../http/message/request.ts";
import { LineLimit } from "./line-limit.ts";
import type { Logger } from "./logger.ts";

/** Counts what is logged, and what the limits leave out. */
interface ListenerEventCounter {
  /** Counts an internal error, by what it affected. */
  contained(scope: "request" | "connection" | "process"): void;
  /** Counts rejected requests; status `null`: connections that were closed without an answer. */
  rejected(status: number | null, reason: string, count: number): void;
}

/** At most so many rejected requests are logged in each period. The metric counts all of them. */
const rejectedLinesMax = 10;
/** Rejected requests that would change something have a limit of their own. */
const rejectedUnsafeLinesMax = 50;
/** So have internal errors: a flood of rejected requests must not hide them. */
const errorLinesMax = 10;
const periodMs = 10_000;

/** Logs and counts what happens at listeners: rejected requests, internal errors, and files that were read again. */
export class ListenerLog {
  readonly #log: Logger;
  readonly #counter: ListenerEventCounter;
  readonly #rejectedLines: LineLimit;
  readonly #rejectedUnsafeLines: LineLimit;
  readonly #errorLines: LineLimit;

  constructor(log: Logger, counter: ListenerEventCounter) {
    this.#log = log;
    this.#counter = counter;
    const onOmitted = (isUnsafe: boolean) => (count: number, ms: number) =>
      log.warn({ omitted: count, span_s: ms / 1000, unsafe: isUnsafe }, `requests rejected: ${omittedText(count, ms)}`);
    this.#rejectedLines = new LineLimit(rejectedLinesMax, periodMs, onOmitted(false));
    this.#rejectedUnsafeLines = new LineLimit(rejectedUnsafeLinesMax, periodMs, onOmitted(true));
    this.#errorLines = new LineLimit(errorLinesMax, periodMs, (count, ms) =>
      log.error({ omitted: count, span_s: ms / 1000 }, `internal errors: ${omittedText(count, ms)}`),
    );
  }

  /** The events of one listener, logged under its address. */
  eventsOf({ address, port }: ListenerConfig): ListenerEvents {
    const log = this.#log;
    const listener = `${address}:${port}`;
    return {
      onError: (error, request) => this.#logError(error, request, listener),
      onFiles: (problem) => log[problem === null ? "info" : "error"]({ listener, problem }, "files of a listener read"),
      onRejected: ({ address: from, status, reason, request, count = 1 }) => {
        this.#counter.rejected(status, reason, count);
        const isUnsafe = request !== null && !safeMethods.includes(request.method);
        if (!(isUnsafe ? this.#rejectedUnsafeLines : this.#rejectedLines).take(count)) return;
        const call = request === null ? null : `${request.method} ${withoutSecrets(request.target)}`;
        log.warn({ listener, from, status, reason, call, ...(count > 1 ? { count } : {}) }, "request rejected");
      },
    };
  }

  /**
   * Logs and counts an error that only the process-wide handler caught, and that affected no more than one connection.
   */
  logContained(error: unknown): void {
    this.#counter.contained("process");
    if (this.#errorLines.take()) this.#log.error({ err: error }, "uncaught internal error contained");
  }

  /** Logs what the limits left out so far. */
  stop(): void {
    this.#rejectedLines.end();
    this.#rejectedUnsafeLines.end();
    this.#errorLines.end();
  }

  #logError(error: unknown, request: Request | null, listener: string): void {
    this.#counter.contained(request === null ? "connection" : "request");
    if (!this.#errorLines.take()) return;
    if (request === null) this.#log.error({ err: error, listener }, "connection failed");
    else this.#log.error({ err: error, target: withoutSecrets(request.target) }, "answer failed");
  }
}

function omittedText(count: number, ms: number): string {
  return `… and ${count.toLocaleString("en-US")} more in ${ms / 1000} s`;
}

/**
 * A target as it may be logged: without a user or password in an absolute form, and without its query, where clients
 * put tokens.
 */
function withoutSecrets(target: string): string {
  const [path = ""] = target.replace(/^[a-z]+:\/\/[^/]*/i, "").split("?");
  return `${path.slice(0, 200)}${target.includes("?") ? "?…" : ""}`;
}
