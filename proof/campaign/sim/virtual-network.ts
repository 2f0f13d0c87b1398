import type { ClientLimits, NodeConnection, NodeReply } from "../../../src/core/probe/client/client.ts";
import type { Chance } from "../chance.ts";
import type { Evidence } from "../wire/evidence.ts";
import type { Served } from "../wire/served.ts";
import { kindOf, type WireFault } from "../wire/mask.ts";
import type { Answer, Seat } from "../wire/seat.ts";
import { ExporterConnection, isExporterAt } from "./exporter-connection.ts";
import { timedOut, wasLateHere, wasRefused, wasReset } from "./network-failures.ts";
import type { Trace } from "./trace.ts";
import type { SeenTime } from "./virtual-time.ts";

/** An address where a node answers. */
export interface Address {
  readonly seat: Seat;
  /** Where its requests are recorded. */
  readonly evidence: Pick<Evidence, "note">;
}

/** What the network depends on. */
export interface NetworkContext {
  readonly time: SeenTime;
  readonly chance: Chance;
  readonly trace: Trace | null;
  /** What answers at an address. */
  readonly addresses: Pick<ReadonlyMap<string, Address>, "get">;
}

const nothing = Buffer.alloc(0);
const serverError = Buffer.from("<html>no</html>");
const isGarbage: NodeReply = { failure: { kind: "body", detail: "HPE_INVALID_CONSTANT: Expected HTTP/" } };
const wasClosed: NodeReply = { failure: { kind: "body", detail: "UND_ERR_DESTROYED: the client is destroyed" } };

/** The network between rolecall and the modelled nodes. Requests that nobody answers yet wait for the next tick. */
export class VirtualNetwork {
  readonly context: NetworkContext;
  #waiting: Exchange[] = [];

  constructor(context: NetworkContext) {
    this.context = context;
  }

  readonly connect = (origin: string, limits: ClientLimits): NodeConnection =>
    isExporterAt(origin)
      ? new ExporterConnection(this, this.context.addresses.get(origin)?.seat, limits)
      : new VirtualConnection(this, origin, limits);

  /** The time that a packet takes, in ms. */
  latencyMs(): number {
    return 0.2 + 1.8 * this.context.chance.next();
  }

  wait(exchange: Exchange): void {
    this.#waiting.push(exchange);
  }

  /** Looks whether requests that wait can go on. To be called with every tick of the model. */
  tick(): void {
    if (this.#waiting.length === 0) return;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const exchange of waiting) exchange.advance();
  }
}

class VirtualConnection implements NodeConnection {
  readonly #network: VirtualNetwork;
  readonly #origin: string;
  readonly #limits: ClientLimits;
  readonly #open = new Set<Exchange>();

  constructor(network: VirtualNetwork, origin: string, limits: ClientLimits) {
    this.#network = network;
    this.#origin = origin;
    this.#limits = limits;
  }

  get(path: string): Promise<NodeReply> {
    return new Promise((resolve) => {
      const exchange = new Exchange(this.#network, path, (reply) => {
        this.#open.delete(exchange);
        resolve(reply);
      });
      this.#open.add(exchange);
      exchange.begin(this.#network.context.addresses.get(this.#origin), this.#limits);
    });
  }

  getStreamed(): Promise<never> {
    throw new Error("Cannot stream: an API must not be asked for a page");
  }

  close(): void {
    for (const exchange of this.#open) exchange.settle(wasClosed);
  }
}

/** One request on its way to a node, and its answer on the way back. */
class Exchange {
  readonly #network: VirtualNetwork;
  readonly #path: string;
  readonly #resolve: (reply: NodeReply) => void;
  #served: Served | null = null;
  #seat: Seat | null = null;
  #fault: WireFault | undefined = undefined;
  #answer: Answer | null = null;
  #isSettled = false;
  #deadlineMs = Infinity;
  #timeoutMs = Infinity;
  /** How late the process had been when it sent the request, in all. */
  #lateBeforeMs = 0;
  #stage: "arriving" | "waiting" | "hanging" | "answered" = "arriving";

  constructor(network: VirtualNetwork, path: string, resolve: (reply: NodeReply) => void) {
    this.#network = network;
    this.#path = path;
    this.#resolve = resolve;
  }

  begin(address: Address | undefined, { connectTimeoutMs, timeoutMs }: ClientLimits): void {
    const { time } = this.#network.context;
    this.#deadlineMs = time.nowMs + timeoutMs;
    this.#timeoutMs = timeoutMs;
    this.#lateBeforeMs = time.lateMs;
    if (address === undefined || address.seat.mask.isUnreachable) {
      this.#setDeadline(Math.min(connectTimeoutMs, timeoutMs));
      return;
    }
    time.after("world", this.#network.latencyMs(), () => this.#arrive(address));
  }

  settle(reply: NodeReply): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    const served = this.#served;
    if (served !== null && served.doneMs === null) served.isBroken = true;
    const { trace, time } = this.#network.context;
    if (trace !== null) {
      const how = "failure" in reply ? reply.failure.kind : `${reply.status} ${reply.body.length}`;
      trace.add(time.nowMs, `${this.#seat?.node.name ?? "-"} ${this.#path}: ${how}`);
    }
    this.#resolve(reply);
  }

  /** Continues where it waits: for a node that is frozen, or for a fault to end. */
  advance(): void {
    if (this.#isSettled) return;
    const seat = this.#seat;
    const served = this.#served;
    if (seat === null || served === null) return;
    if (this.#stage === "waiting" && seat.isMoving) return this.#answerSoon(seat, served);
    if (this.#stage === "hanging" && seat.mask.wire.get(served.kind) !== this.#fault) return this.settleLater(wasReset);
    this.#network.wait(this);
  }

  settleLater(reply: NodeReply): void {
    this.#network.context.time.after("delivery", this.#network.latencyMs(), () => this.settle(reply));
  }

  #arrive({ seat, evidence }: Address): void {
    if (this.#isSettled) return;
    const { time } = this.#network.context;
    this.#seat = seat;
    if (!seat.isListening) {
      // A machine that is off does not even refuse.
      if (seat.node.isUp || seat.guest !== null) this.settleLater(wasRefused);
      else if (time.nowMs % 2 < 1) this.settleLater(wasRefused);
      else this.#setDeadline(this.#deadlineMs - time.nowMs);
      return;
    }
    const kind = kindOf(this.#path);
    const served: Served = {
      node: seat.node.name,
      kind,
      path: this.#path,
      arrivedMs: time.nowMs,
      doneMs: null,
      isBroken: false,
      status: 0,
      document: null,
      isGenuine: seat.guest === null,
    };
    this.#served = served;
    evidence.note(served);
    this.#fault = seat.guest === null ? seat.mask.wire.get(kind) : undefined;
    if (seat.isMoving) return this.#answerSoon(seat, served);
    this.#stage = "waiting";
    this.#setDeadline(this.#deadlineMs - time.nowMs);
    this.#network.wait(this);
  }

  #answerSoon(seat: Seat, served: Served): void {
    this.#stage = "answered";
    if (served.kind === "status" || !seat.waitsForDcs) return this.#answerNow(seat, served);
    const { time } = this.#network.context;
    this.#setDeadline(this.#deadlineMs - time.nowMs);
    time.after("world", seat.world.profile.retryMs, () => {
      if (!this.#isSettled) this.#answerNow(seat, served);
    });
  }

  #answerNow(seat: Seat, served: Served): void {
    const { time } = this.#network.context;
    this.#answer = seat.answer(this.#path, time.nowMs);
    const fault = this.#fault;
    switch (fault?.kind) {
      case "hang":
        this.#stage = "hanging";
        this.#setDeadline(this.#deadlineMs - time.nowMs);
        this.#network.wait(this);
        return;
      case "late":
      case "drip":
        if (time.nowMs + fault.ms >= this.#deadlineMs - 5) this.#setDeadline(this.#deadlineMs - time.nowMs);
        time.after("world", fault.ms, () => this.#send(served));
        return;
      case "reset":
        return this.settleLater(wasReset);
      case "garbage":
        return this.settleLater(isGarbage);
      case "error":
        return this.settleLater({ status: 500, body: serverError });
      case "truncate":
      case undefined:
        this.#send(served);
    }
  }

  #send(served: Served): void {
    const answer = this.#answer;
    if (this.#isSettled || answer === null) return;
    const { document, status } = answer;
    if (document === null) return this.settleLater(wasReset);
    const body = document === undefined ? nothing : Buffer.from(JSON.stringify(document));
    served.status = status;
    if (this.#fault?.kind === "truncate")
      return this.settleLater({ status, body: body.subarray(0, body.length - Math.ceil(body.length / 2)) });
    served.document = document ?? null;
    served.doneMs = this.#network.context.time.nowMs;
    this.settleLater({ status, body });
  }

  /**
   * Gives up after a time, as the client of the program does: what the process itself was late is not the node's. The
   * limit moves by it once.
   */
  #setDeadline(delayMs: number): void {
    const { time } = this.#network.context;
    const lateMs = (): number => time.lateMs - this.#lateBeforeMs;
    time.after("timer", delayMs, () => {
      const movedMs = Math.min(lateMs(), this.#timeoutMs);
      if (movedMs <= 0) return this.settle(timedOut);
      time.after("timer", movedMs, () => this.settle(lateMs() > this.#timeoutMs ? wasLateHere : timedOut));
    });
  }
}
