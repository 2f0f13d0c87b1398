import type { ListenerConfig } from "../../core/config/model/config.ts";
import type { ListenerEvents } from "../../core/http/listener/listener-events.ts";
import { safeMethods, type Request } from "../../core/http/message/request.ts";
import { LimitedLines } from "../../core/log/limited-lines.ts";
import type { Logger } from "../../core/log/logger.ts";

/** Counts what is logged, and what the limits leave out. */
interface ListenerEventCounter {
  /** Counts an internal error, by what it affected. */
  count(name: "contained", labels: { readonly scope: string }): void;
  /** Counts rejected requests; status `connection`: connections that were closed without an answer. */
  count(name: "rejected", labels: { readonly status: string; readonly reason: string }, by: number): void;
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
  readonly #rejectedLines: LimitedLines;
  readonly #rejectedUnsafeLines: LimitedLines;
  readonly #errorLines: LimitedLines;

  constructor(log: Logger, counter: ListenerEventCounter) {
    this.#log = log;
    this.#counter = counter;
    const rejected = (max: number, unsafe: boolean): LimitedLines =>
      new LimitedLines(log, { what: "requests rejected", level: "warn", max, periodMs, fields: { unsafe } });
    this.#rejectedLines = rejected(rejectedLinesMax, false);
    this.#rejectedUnsafeLines = rejected(rejectedUnsafeLinesMax, true);
    this.#errorLines = new LimitedLines(log, { what: "internal errors", level: "error", max: errorLinesMax, periodMs });
  }

  /** The events of one listener, logged under its address. */
  eventsOf({ address, port }: ListenerConfig): ListenerEvents {
    const log = this.#log;
    const listener = `${address}:${port}`;
    return {
      onError: (error, request) => this.#logError(error, request, listener),
      onFiles: (problem) => log[problem === null ? "info" : "error"]({ listener, problem }, "files of a listener read"),
      onRejected: ({ address: from, status, reason, request, count = 1 }) => {
        this.#counter.count("rejected", { status: status === null ? "connection" : String(status), reason }, count);
        const isUnsafe = request !== null && !safeMethods.includes(request.method);
        const lines = isUnsafe ? this.#rejectedUnsafeLines : this.#rejectedLines;
        const call = (): string | null =>
          request === null ? null : `${request.method} ${withoutSecrets(request.target)}`;
        const counted = count > 1 ? { count } : {};
        lines.write({ level: "warn", text: "request rejected", count }, () => ({
          listener,
          from,
          status,
          reason,
          call: call(),
          ...counted,
        }));
      },
    };
  }

  /**
   * Logs and counts an error that only the process-wide handler caught, and that affected no more than one connection.
   */
  logContained(error: unknown): void {
    this.#counter.count("contained", { scope: "process" });
    this.#errorLines.write({ level: "error", text: "uncaught internal error contained" }, () => ({ err: error }));
  }

  /** Logs what the limits left out so far. */
  stop(): void {
    this.#rejectedLines.end();
    this.#rejectedUnsafeLines.end();
    this.#errorLines.end();
  }

  #logError(error: unknown, request: Request | null, listener: string): void {
    this.#counter.count("contained", { scope: request === null ? "connection" : "request" });
    if (request === null)
      this.#errorLines.write({ level: "error", text: "connection failed" }, () => ({ err: error, listener }));
    else
      this.#errorLines.write({ level: "error", text: "answer failed" }, () => ({
        err: error,
        target: withoutSecrets(request.target),
      }));
  }
}

/**
 * A target as it may be logged: without a user or password in an absolute form, and without its query, where clients
 * put tokens.
 */
function withoutSecrets(target: string): string {
  const [path = ""] = target.replace(/^[a-z]+:\/\/[^/]*/i, "").split("?");
  return `${path.slice(0, 200)}${target.includes("?") ? "?…" : ""}`;
}
