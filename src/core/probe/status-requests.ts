import { backoffMs } from "./schedule/backoff.ts";
import type { NodeConnection, NodeReply } from "./client/client.ts";
import { HttpsHint } from "./client/https-hint.ts";
import type { ProbeContext } from "./client/probe-context.ts";
import type { StatusResult } from "./parse/parse-response.ts";
import { StatusReader } from "./parse/status-reader.ts";

/** The longest interval between two probes of a server that keeps failing (rule 8), in ms. */
const slowestIntervalMs = 5_000;

/** The status of one server, as it answers `GET /leader`. */
export class StatusRequests {
  readonly #api: string;
  readonly #name: string;
  readonly #context: ProbeContext;
  readonly #https: HttpsHint;
  readonly #reader: StatusReader;
  #client: NodeConnection;

  /**
   * @param api the base address of the server's API
   * @param name what its probes are counted as
   */
  constructor(api: string, name: string, context: ProbeContext) {
    this.#api = api;
    this.#name = name;
    this.#context = context;
    const { now, answersWaitMs, isTlsServer, schedule } = context;
    this.#https = new HttpsHint(api, { now, timeoutMs: schedule.timeoutMs, answersWaitMs, isTlsServer });
    this.#reader = new StatusReader(context.parsing);
    this.#client = context.connect(api);
  }

  /** Requests the status and counts the probe. A failure says so if the server speaks TLS where none is expected. */
  get(sentAtMs: number): Promise<StatusResult> {
    return this.#client.get("/leader").then((reply) => this.#read(reply, sentAtMs));
  }

  #read(reply: NodeReply, sentAtMs: number): StatusResult | Promise<StatusResult> {
    const { cluster, now, onProbeFinished } = this.#context;
    const outcome = "failure" in reply ? reply.failure.kind : "answered";
    onProbeFinished({ cluster, node: this.#name, endpoint: "leader", outcome, durationMs: now() - sentAtMs });
    const result = this.#reader.read(reply);
    if ("failure" in result) return this.#https.refine(result.failure).then((failure) => ({ failure }));
    this.#https.reset();
    return result;
  }

  /** Applies new TLS material: the next request opens a new connection. */
  reconnect(): void {
    this.#client.close();
    this.#client = this.#context.connect(this.#api);
  }

  close(): void {
    this.#client.close();
  }
}

/**
 * The interval to the next probe of a server, in ms: the usual one, doubled for each failure in a row from the `fall`th
 * on (rule 8).
 */
export function statusIntervalMs(
  { intervalMs, fall }: Pick<ProbeContext["schedule"], "intervalMs" | "fall">,
  failuresInRow: number,
  usualMs: number = intervalMs,
): number {
  const maxMs = Math.max(intervalMs, slowestIntervalMs);
  return Math.max(usualMs, backoffMs({ firstMs: 2 * intervalMs, maxMs, failures: failuresInRow - fall + 1 }));
}
