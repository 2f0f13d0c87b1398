import type { ClusterConfig, ListenerConfig } from "./config/config.ts";
import type { ListenerEvents } from "./front/listener.ts";
import { SnapshotWait } from "./front/snapshot-wait.ts";
import { safeMethods, type Request } from "./front/request.ts";
import type { Audited } from "./gateway/audit.ts";
import { Gateway, type GatewayContext } from "./gateway/gateway.ts";
import { Upstreams } from "./gateway/upstream.ts";
import type { Logger } from "./log.ts";
import type { ManagementMetrics } from "./metrics/management-metrics.ts";

/** What the gatehouse is wired to. */
export interface GatehouseContext extends Omit<GatewayContext, "upstream" | "onCall"> {
  readonly log: Logger;
  readonly metrics: ManagementMetrics;
}

/** At most so many lines a minute tell of callers who were not let in: the metric counts them all. */
const linesAMinute = 60;
const minuteMs = 60_000;

/** The wiring of doors and gateway: who is let in, what is passed on, and what is told of both. */
export class Gatehouse {
  readonly gateway: Gateway;
  /** Those who wait for the cluster to have been looked at after a call. */
  readonly snapshots: SnapshotWait;
  readonly #context: GatehouseContext;
  readonly #upstreams: Upstreams;
  #minuteBeganMs = -Infinity;
  #lines = 0;

  constructor(context: GatehouseContext) {
    this.#context = context;
    const { log } = context;
    this.snapshots = new SnapshotWait(context.snapshot);
    this.#upstreams = new Upstreams((cluster, problem) => {
      log[problem === null ? "info" : "error"]({ cluster, problem }, "files for calls to the nodes read");
    });
    this.gateway = new Gateway({
      ...context,
      upstream: (cluster) => this.#upstreams.of(cluster),
      onCall: (audited) => this.#audit(audited),
    });
  }

  /** Goes by these clusters' files from now on. */
  start(clusters: readonly ClusterConfig[]): void {
    this.#upstreams.start(clusters);
  }

  stop(): void {
    this.#upstreams.stop();
  }

  /** What a listener tells of, written down. */
  eventsOf({ address, port }: ListenerConfig): ListenerEvents {
    const { log, metrics } = this.#context;
    const door = `${address}:${port}`;
    return {
      onError: (error, request) => this.#failed(error, request, door),
      onFiles: (problem) => log[problem === null ? "info" : "error"]({ door, problem }, "files of a listener read"),
      onRefused: ({ address: from, status, request, count = 1 }) => {
        metrics.turnedAway(status, count);
        const call = request === null ? null : `${request.method} ${request.target.slice(0, 200)}`;
        const isUnsafe = request !== null && !safeMethods.includes(request.method);
        if (isUnsafe || this.#mayTell()) log.warn({ door, from, status, call, ...(count > 1 ? { count } : {}) }, "not let in");
      },
    };
  }

  /** Reports what nobody but the process itself caught, and what cost no more than one connection. */
  contained(error: unknown): void {
    const { log, metrics } = this.#context;
    metrics.contained("process");
    if (this.#mayTell()) log.error({ err: error }, "internal error contained by the last resort");
  }

  #failed(error: unknown, request: Request | null, door: string): void {
    const { log, metrics } = this.#context;
    metrics.contained(request === null ? "connection" : "request");
    if (!this.#mayTell()) return;
    if (request === null) log.error({ err: error, door }, "connection failed");
    else log.error({ err: error, target: request.target }, "answer failed");
  }

  /** The one line and the one metric of a management call. */
  #audit(audited: Audited): void {
    const { log, metrics } = this.#context;
    metrics.called(audited);
    const { requestId, durationMs, method, call, ...rest } = audited;
    const line = { ...rest, call: `${method} /${call}`, duration_ms: Math.round(durationMs), request_id: requestId };
    log.info(line, "management call");
  }

  #mayTell(): boolean {
    const nowMs = this.#context.now();
    if (nowMs - this.#minuteBeganMs > minuteMs) {
      this.#minuteBeganMs = nowMs;
      this.#lines = 0;
    }
    this.#lines += 1;
    return this.#lines <= linesAMinute;
  }
}
