import type { ClusterConfig, ListenerConfig } from "../config/model/config.ts";
import type { ListenerEvents } from "../http/listener/listener-events.ts";
import { SnapshotLongPoll } from "../http/admin-api/snapshot-long-poll.ts";
import { safeMethods, type Request } from "../http/message/request.ts";
import type { AuditRecord } from "../gateway/audit-record.ts";
import { Gateway, type GatewayContext } from "../gateway/gateway.ts";
import { NodeConnections } from "../gateway/upstream.ts";
import { LineLimit, type Logger } from "../events/logger.ts";
import type { ManagementMetrics } from "../metrics/management-metrics.ts";

/** What the gatehouse is wired to. */
export interface GatehouseContext extends Omit<GatewayContext, "upstream" | "onCall"> {
  readonly log: Logger;
  readonly metrics: ManagementMetrics;
}

/** At most so many lines in each span tell of rejected requests; calls that change something count by themselves. The metric counts all. */
const linesMax = 10;
const unsafeLinesMax = 50;
/** Lines of internal errors have a limit of their own: a flood of rejected requests must not hide them. */
const errorLinesMax = 10;
const spanMs = 10_000;

/** The wiring of doors and gateway: who is let in, what is passed on, and what is told of both. */
export class Gatehouse {
  readonly gateway: Gateway;
  /** Those who wait for the cluster to have been looked at after a call. */
  readonly snapshots: SnapshotLongPoll;
  readonly #context: GatehouseContext;
  readonly #upstreams: NodeConnections;
  readonly #lines: LineLimit;
  readonly #unsafeLines: LineLimit;
  readonly #errorLines: LineLimit;

  constructor(context: GatehouseContext) {
    this.#context = context;
    const { log } = context;
    const onOmitted = (isUnsafe: boolean) => (count: number, ms: number) => {
      const text = `requests rejected: … and ${count.toLocaleString("en-US")} more in ${ms / 1000} s`;
      log.warn({ omitted: count, span_s: ms / 1000, unsafe: isUnsafe }, text);
    };
    this.#lines = new LineLimit(linesMax, spanMs, onOmitted(false));
    this.#unsafeLines = new LineLimit(unsafeLinesMax, spanMs, onOmitted(true));
    this.#errorLines = new LineLimit(errorLinesMax, spanMs, (count, ms) =>
      log.error(
        { omitted: count, span_s: ms / 1000 },
        `internal errors: … and ${count.toLocaleString("en-US")} more in ${ms / 1000} s`,
      ),
    );
    this.snapshots = new SnapshotLongPoll(context.snapshot);
    this.#upstreams = new NodeConnections((cluster, problem) => {
      log[problem === null ? "info" : "error"]({ cluster, problem }, "files for calls to the nodes read");
    });
    this.gateway = new Gateway({
      ...context,
      upstream: (cluster) => this.#upstreams.of(cluster),
      onCall: (record) => this.#audit(record),
    });
  }

  /** Goes by these clusters' files from now on. */
  start(clusters: readonly ClusterConfig[]): void {
    this.#upstreams.start(clusters);
  }

  stop(): void {
    this.#upstreams.stop();
    this.#lines.end();
    this.#unsafeLines.end();
    this.#errorLines.end();
  }

  /** What a listener tells of, written down. */
  eventsOf({ address, port }: ListenerConfig): ListenerEvents {
    const { log, metrics } = this.#context;
    const door = `${address}:${port}`;
    return {
      onError: (error, request) => this.#failed(error, request, door),
      onFiles: (problem) => log[problem === null ? "info" : "error"]({ door, problem }, "files of a listener read"),
      onRejected: ({ address: from, status, request, count = 1 }) => {
        metrics.rejected(status, count);
        const isUnsafe = request !== null && !safeMethods.includes(request.method);
        if (!(isUnsafe ? this.#unsafeLines : this.#lines).take(count)) return;
        const call = request === null ? null : `${request.method} ${withoutSecrets(request.target)}`;
        log.warn({ door, from, status, call, ...(count > 1 ? { count } : {}) }, "not let in");
      },
    };
  }

  /** Reports what nobody but the process itself caught, and what cost no more than one connection. */
  contained(error: unknown): void {
    const { log, metrics } = this.#context;
    metrics.contained("process");
    if (this.#errorLines.take(1)) log.error({ err: error }, "uncaught internal error contained");
  }

  #failed(error: unknown, request: Request | null, door: string): void {
    const { log, metrics } = this.#context;
    metrics.contained(request === null ? "connection" : "request");
    if (!this.#errorLines.take(1)) return;
    if (request === null) log.error({ err: error, door }, "connection failed");
    else log.error({ err: error, target: withoutSecrets(request.target) }, "answer failed");
  }

  /** The one line and the one metric of a management call. */
  #audit(record: AuditRecord): void {
    const { log, metrics } = this.#context;
    metrics.called(record);
    const { requestId, durationMs, method, call, ...rest } = record;
    const line = { ...rest, call: `${method} /${call}`, duration_ms: Math.round(durationMs), request_id: requestId };
    log.info(line, "management call");
  }
}

/** A target as a log may hold it: without a user or password in an absolute form, and without its query, where clients put tokens. */
function withoutSecrets(target: string): string {
  const [path = ""] = target.replace(/^[a-z]+:\/\/[^/]*/i, "").split("?");
  return `${path.slice(0, 200)}${target.includes("?") ? "?…" : ""}`;
}
