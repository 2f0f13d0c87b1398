/** What the exporter of a modelled database answers, as pg_exporter does. It runs apart from the cluster manager. */
import type {
  BodySink,
  ClientLimits,
  NodeConnection,
  NodeReply,
  StreamedReply,
} from "../../../src/core/probe/client/client.ts";
import type { Seat } from "../wire/seat.ts";
import { listedAt } from "../world/wal.ts";
import { timedOut } from "./network-failures.ts";
import type { VirtualNetwork } from "./virtual-network.ts";

const port = 9630;

/** The address of the exporter beside an API. */
export function exporterAt(api: string): string {
  return `http://${new URL(api).hostname}:${port}`;
}

/** Whether an exporter is at an address. */
export function isExporterAt(origin: string): boolean {
  return origin.endsWith(`:${port}`);
}

/** A connection to an exporter. It answers as long as its machine does, whatever the node's API does. */
export class ExporterConnection implements NodeConnection {
  readonly #network: Pick<VirtualNetwork, "context" | "latencyMs">;
  readonly #seat: Seat | undefined;
  readonly #limits: ClientLimits;

  constructor(network: Pick<VirtualNetwork, "context" | "latencyMs">, seat: Seat | undefined, limits: ClientLimits) {
    this.#network = network;
    this.#seat = seat;
    this.#limits = limits;
  }

  get(path: string): Promise<NodeReply> {
    const { time } = this.#network.context;
    const seat = this.#seat;
    return new Promise((resolve) => {
      if (seat === undefined || seat.mask.isUnreachable || !isRunning(seat))
        return void time.after("timer", this.#limits.timeoutMs, () => resolve(timedOut));
      time.after("world", this.#network.latencyMs(), () => {
        const reply = answerOf(seat, path, time.nowMs);
        time.after("delivery", this.#network.latencyMs(), () => resolve(reply));
      });
    });
  }

  async getStreamed(path: string, { onData }: BodySink): Promise<StreamedReply> {
    const reply = await this.get(path);
    if ("failure" in reply) return reply;
    onData(reply.body);
    return { status: reply.status };
  }

  close(): void {}
}

/** Whether the machine at the address is neither off nor frozen. */
function isRunning({ node, guest }: Seat): boolean {
  const { isUp, isHalted } = guest?.node ?? node;
  return isUp && !isHalted;
}

/** The answer to `/up` or `/metrics` at an instant. A database that does not run has no role. */
function answerOf(seat: Seat, path: string, nowMs: number): NodeReply {
  const { world, node } = seat.guest ?? seat;
  const runs = node.state === "running";
  if (path === "/up") return { status: runs ? 200 : 503, body: Buffer.from(runs ? node.role : "down") };
  const streaming = listedAt(world, node, nowMs).length;
  const rows = [
    ["pg_is_in_recovery", node.role === "primary" ? 0 : 1],
    ["pg_timestamp", world.wallMs(nowMs) / 1_000],
    ['pg_downstream_count{state="streaming"}', streaming],
  ] as const;
  const lines = [`pg_up ${runs ? 1 : 0}`, ...(runs ? rows : []).map((row) => row.join(" "))];
  return { status: 200, body: Buffer.from(`${lines.join("\n")}\n`) };
}
