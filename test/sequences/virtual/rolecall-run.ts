import type { AnswerSources } from "../../../src/app/handlers/answer-sources.ts";
import type { Machine } from "../../../src/app/machine/machine.ts";
import { Monitor } from "../../../src/app/monitor.ts";
import type { Config } from "../../../src/core/config/model/config.ts";
import type { ListenerHandler } from "../../../src/core/http/message/handler.ts";
import type { Reply } from "../../../src/core/http/message/reply.ts";
import { metrics } from "../../../proof/campaign/sim/subject-metrics.ts";
import { callOf, handlerOf, sourcesOf } from "../../../proof/campaign/sim/virtual-listener.ts";
import { VirtualWorker } from "../../../proof/campaign/sim/virtual-worker.ts";
import { silentLogger } from "../../fake/silent-logger.ts";
import { answerInHead, answerOf } from "../answer-record.ts";
import type { Look } from "../watcher.ts";

/** One run of rolecall on virtual time, with a worker that follows it. */
export class RolecallRun {
  readonly #monitor: Monitor;
  readonly #handler: ListenerHandler;
  readonly #worker: VirtualWorker;

  constructor(config: Config, machine: Machine) {
    const [listener] = config.listen;
    if (listener === undefined) throw new Error("Cannot play: the configuration must have a listener");
    this.#monitor = new Monitor(config, { log: silentLogger, machine, metrics });
    const { store, clock } = this.#monitor;
    const sources: AnswerSources = sourcesOf({ store: () => store, clock: () => clock });
    this.#handler = handlerOf(listener, config, sources);
    this.#worker = new VirtualWorker(this.#monitor, { config, listener, machine });
  }

  /** Reads what an earlier run has saved, in real time. */
  restore(): Promise<void> {
    return this.#monitor.restore();
  }

  /** Resolves after the first round of probes, in virtual time. */
  start(): Promise<void> {
    this.#worker.start();
    return this.#monitor.start();
  }

  /** Resolves once its state file is written, in real time. */
  stop(): Promise<void> {
    return this.#monitor.stop();
  }

  /** As a listener does: the fast path, and the ordinary one for what the fast path leaves to it. */
  async answer(look: Look): Promise<string> {
    const { path, host } = look;
    const bytes = this.#handler.cached?.find(`HEAD ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`)?.bytes;
    if (bytes === undefined) return ordinaryAnswer(this.#handler, look);
    return answerInHead(bytes.toString("latin1"));
  }

  /** The answer of its worker. */
  answerOfWorker(look: Look): Promise<string> {
    return ordinaryAnswer(this.#worker.handler, look);
  }
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
