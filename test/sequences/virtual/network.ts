import type { ClientLimits, NodeConnection, NodeReply } from "../../../src/core/probe/client/client.ts";
import type { Chance } from "../../../proof/campaign/chance.ts";
import { exporterAt, isExporterAt } from "../../../proof/campaign/sim/exporter-connection.ts";
import { timedOut, wasRefused, wasReset } from "../../../proof/campaign/sim/network-failures.ts";
import type { VirtualTime } from "../../../proof/campaign/sim/virtual-time.ts";
import type { World } from "../world.ts";

/** What the network of a sequence depends on. */
export interface NetworkParts {
  readonly world: World;
  readonly time: VirtualTime;
  readonly chance: Chance;
  /** Seconds since the start of the sequence. */
  readonly now: () => number;
}

const nothing = Buffer.alloc(0);

/** The network between rolecall and the servers of one sequence, on virtual time. */
export class SequenceNetwork {
  readonly #parts: NetworkParts;
  readonly #open = new Set<Exchange>();

  constructor(parts: NetworkParts) {
    this.#parts = parts;
  }

  readonly connect = (origin: string, limits: ClientLimits): NodeConnection => {
    const isExporter = isExporterAt(origin);
    const isAt = (api: string): boolean => (isExporter ? exporterAt(api) : api) === origin;
    const server = [...this.#parts.world.addresses].find(([, address]) => isAt(address))?.[0];
    const mine = new Set<Exchange>();
    const get = (path: string): Promise<NodeReply> =>
      new Promise((resolve) => {
        const exchange = new Exchange({ server, isExporter, path, limits }, this, (reply) => {
          this.#open.delete(exchange);
          mine.delete(exchange);
          resolve(reply);
        });
        this.#open.add(exchange);
        mine.add(exchange);
        exchange.begin();
      });
    return {
      get,
      getStreamed: async (path, { onData }) => {
        const reply = await get(path);
        if ("failure" in reply) return reply;
        onData(reply.body);
        return { status: reply.status };
      },
      close: () => {
        for (const exchange of mine) exchange.settle(wasReset);
      },
    };
  };

  get parts(): NetworkParts {
    return this.#parts;
  }

  /** The time that a packet takes, in ms. */
  latencyMs(): number {
    return 0.2 + 1.8 * this.#parts.chance.next();
  }

  /** Resets the connections of the servers that do not listen any more. To be called after each step. */
  applyStep(): void {
    for (const exchange of this.#open) exchange.resetIfClosed();
  }
}

interface Call {
  /** Undefined for an address that no server has. */
  readonly server: string | undefined;
  /** Whether it is for the exporter of the server, which answers whatever the API does. */
  readonly isExporter: boolean;
  readonly path: string;
  readonly limits: ClientLimits;
}

/** One request on its way to a server, and its answer on the way back. */
class Exchange {
  readonly #call: Call;
  readonly #network: SequenceNetwork;
  readonly #resolve: (reply: NodeReply) => void;
  #isSettled = false;
  /** Between its arrival and its answer. */
  #isAtServer = false;

  constructor(call: Call, network: SequenceNetwork, resolve: (reply: NodeReply) => void) {
    this.#call = call;
    this.#network = network;
    this.#resolve = resolve;
  }

  begin(): void {
    const { time } = this.#network.parts;
    time.after("timer", this.#call.limits.timeoutMs, () => this.settle(timedOut));
    time.after("world", this.#network.latencyMs(), () => this.#arrive());
  }

  settle(reply: NodeReply): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.#resolve(reply);
  }

  resetIfClosed(): void {
    if (this.#isAtServer && !this.#isListening()) this.#send(wasReset);
  }

  #arrive(): void {
    const { server, isExporter, path } = this.#call;
    if (server === undefined || !this.#isListening()) return this.#send(wasRefused);
    this.#isAtServer = true;
    const { world, time } = this.#network.parts;
    if (isExporter) return this.#answer(server);
    const { api, delay, viewDelay } = world.conductOf(server);
    if (api === "hang") return;
    const seconds = (delay ?? 0) + (path === "/cluster" ? (viewDelay ?? 0) : 0);
    time.after("world", seconds * 1000, () => this.#answer(server));
  }

  #isListening(): boolean {
    const { server, isExporter } = this.#call;
    if (server === undefined) return false;
    return isExporter || this.#network.parts.world.conductOf(server).api !== "refused";
  }

  #answer(server: string): void {
    if (!this.#isAtServer || this.#isSettled) return;
    const { isExporter, path } = this.#call;
    const { world, now } = this.#network.parts;
    if (isExporter) {
      const [status, text] = world.exporterAnswer(server, path, now()) ?? [];
      if (status !== undefined) this.#send({ status, body: Buffer.from(text ?? "") });
      return;
    }
    const answer = world.answer(server, path, now());
    if (answer === undefined) return;
    const [status, document] = answer;
    this.#send({ status, body: document === undefined ? nothing : Buffer.from(JSON.stringify(document)) });
    // A document may have been the server's last.
    this.#network.applyStep();
  }

  #send(reply: NodeReply): void {
    this.#isAtServer = false;
    this.#network.parts.time.after("delivery", this.#network.latencyMs(), () => this.settle(reply));
  }
}
