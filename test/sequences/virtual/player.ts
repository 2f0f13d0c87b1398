import type { AnswerSources } from "../../../src/app/handlers/answer-sources.ts";
import type { Machine } from "../../../src/app/machine.ts";
import { Monitor } from "../../../src/app/monitor.ts";
import { loadConfig } from "../../../src/config/load.ts";
import type { Config } from "../../../src/config/model/config.ts";
import type { ListenerHandler } from "../../../src/http/message/handler.ts";
import type { Reply } from "../../../src/http/message/reply.ts";
import { Chance } from "../../campaign/chance.ts";
import { virtualMachine } from "../../campaign/sim/machine.ts";
import { metrics } from "../../campaign/sim/subject-metrics.ts";
import { callOf, handlerOf, sourcesOf } from "../../campaign/sim/virtual-listener.ts";
import { VirtualTime } from "../../campaign/sim/virtual-time.ts";
import { VirtualWorker } from "../../campaign/sim/virtual-worker.ts";
import { silentLogger } from "../../fake/silent-logger.ts";
import { answerInHead, answerOf, AnswerRecord } from "../answer-record.ts";
import { clusterOf, configurationWith } from "../configuration.ts";
import type { Sequence } from "../format.ts";
import { faultsOf, looksOf } from "../judge.ts";
import type { Look } from "../watcher.ts";
import { World } from "../world.ts";
import { SequenceNetwork } from "./network.ts";

/** The time between the start of rolecall and that of the sequence, in virtual ms. */
const warmUpMs = 2_500;
/** The time between two rounds of checks where a sequence does not say, in virtual ms. */
const everyMs = 300;

/**
 * One sequence on virtual time: the program's own monitoring, judgement and answers, between the connections to nodes
 * and the bytes of responses. No other work of the machine can change the truth, and a run depends on its seed alone.
 */
export class VirtualPlayer {
  readonly #sequence: Sequence;
  readonly #world: World;
  readonly #time = new VirtualTime();
  readonly #network: SequenceNetwork;
  readonly #monitor: Monitor;
  readonly #handler: ListenerHandler;
  readonly #worker: VirtualWorker;
  readonly #looks: readonly Look[];
  readonly #answers: AnswerRecord;
  readonly #ofWorker: AnswerRecord;
  #failure: Error | null = null;

  /** @param seed decides when probes are sent and how long packets take */
  constructor(sequence: Sequence, seed: number) {
    this.#sequence = sequence;
    const world = new World(sequence);
    this.#world = world;
    for (const [index, name] of world.servers.entries()) world.addresses.set(name, `http://127.0.7.${index + 1}:8008`);
    const time = this.#time;
    const chance = new Chance(seed);
    const now = (): number => Math.max(0, (time.nowMs - warmUpMs) / 1000);
    this.#network = new SequenceNetwork({ world, time, chance: chance.fork(1), now });
    const config = configOf(sequence, world);
    const [listener] = config.listen;
    if (listener === undefined) throw new Error("Cannot play: the configuration must have a listener");
    const machine = this.#machine(chance.fork(2));
    this.#monitor = new Monitor(config, { log: silentLogger, machine, metrics });
    const { store, clock } = this.#monitor;
    const sources: AnswerSources = sourcesOf({ store: () => store, clock: () => clock });
    this.#handler = handlerOf(listener, config, sources);
    this.#worker = new VirtualWorker(this.#monitor, { config, listener, machine });
    this.#looks = looksOf(sequence);
    this.#answers = new AnswerRecord(this.#looks);
    this.#ofWorker = new AnswerRecord(this.#looks);
  }

  /** Runs the sequence and returns its violations. */
  async play(): Promise<readonly string[]> {
    const time = this.#time;
    const { steps, lasts, every = everyMs } = this.#sequence;
    time.after("delivery", 0, () => void this.#keep(this.#start()));
    for (const step of steps)
      time.after("world", warmUpMs + step.at * 1000, () => {
        this.#world.apply(step);
        this.#network.applyStep();
      });
    this.#lookLater(warmUpMs, every);
    await time.run(warmUpMs + lasts * 1000);
    await this.#monitor.stop();
    if (this.#failure !== null) throw this.#failure;
    return [
      ...faultsOf(this.#sequence, this.#answers),
      ...faultsOf(this.#sequence, this.#ofWorker).map((fault) => `worker: ${fault}`),
    ];
  }

  async #start(): Promise<void> {
    await this.#monitor.restore();
    this.#worker.start();
    await this.#monitor.start();
  }

  #lookLater(delayMs: number, every: number): void {
    this.#time.after("delivery", delayMs, () => {
      void this.#keep(this.#look());
      this.#lookLater(every, every);
    });
  }

  async #look(): Promise<void> {
    const at = (this.#time.nowMs - warmUpMs) / 1000;
    this.#answers.add(at, await Promise.all(this.#looks.map((look) => this.#answer(look))));
    const { handler } = this.#worker;
    this.#ofWorker.add(at, await Promise.all(this.#looks.map((look) => ordinaryAnswer(handler, look))));
  }

  /** As a listener does: the fast path, and the ordinary one for what the fast path leaves to it. */
  async #answer(look: Look): Promise<string> {
    const { path, host } = look;
    const bytes = this.#handler.cached?.find(`HEAD ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`)?.bytes;
    if (bytes === undefined) return ordinaryAnswer(this.#handler, look);
    return answerInHead(bytes.toString("latin1"));
  }

  async #keep(promise: Promise<void>): Promise<void> {
    try {
      await promise;
    } catch (error) {
      this.#failure ??= error instanceof Error ? error : new Error(String(error));
    }
  }

  #machine(chance: Chance): Machine {
    const open = (): never => {
      throw new Error("Cannot open a DCS: sequences have none");
    };
    return virtualMachine({ time: this.#time, chance, network: this.#network, dcs: { open } });
  }
}

function configOf(sequence: Sequence, world: World): Config {
  const builtIn = configurationWith([clusterOf(sequence, world)], 8008);
  const loaded = loadConfig({ file: null, builtIn, env: {}, flags: {} });
  if (!loaded.ok) throw new Error(loaded.problems.map(({ message }) => message).join("\n"));
  return loaded.config;
}

async function ordinaryAnswer(handler: ListenerHandler, { path, host }: Look): Promise<string> {
  const reply = await handler(callOf("HEAD", path, host));
  if (reply === null) throw new Error(`Cannot read the answer to ${path}: it must be a reply`);
  return answerOf(reply.status, headerOf(reply, "x-rolecall-reason"));
}

function headerOf({ headers }: Reply, name: string): string | undefined {
  const at = headers.findIndex((header, index) => index % 2 === 0 && header.toLowerCase() === name);
  return at < 0 ? undefined : headers[at + 1];
}
