import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Machine } from "../../../src/app/machine/machine.ts";
import { loadConfig } from "../../../src/app/registry/config.ts";
import type { Config } from "../../../src/core/config/model/config.ts";
import { Chance } from "../../../proof/campaign/chance.ts";
import { virtualMachine } from "../../../proof/campaign/sim/machine.ts";
import { VirtualTime } from "../../../proof/campaign/sim/virtual-time.ts";
import { AnswerRecord } from "../answer-record.ts";
import { clusterOf, configurationWith } from "../configuration.ts";
import type { Sequence } from "../format.ts";
import { faultsOf, looksOf } from "../judge.ts";
import type { Look } from "../watcher.ts";
import { World } from "../world.ts";
import { SequenceNetwork } from "./network.ts";
import { RolecallRun } from "./rolecall-run.ts";

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
  readonly #machine: Machine;
  readonly #looks: readonly Look[];
  readonly #answers: AnswerRecord;
  readonly #ofWorker: AnswerRecord;
  /** `null` while rolecall does not run. */
  #run: RolecallRun | null = null;
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
    this.#machine = virtualMachine({ time, chance: chance.fork(2), network: this.#network });
    this.#looks = looksOf(sequence);
    this.#answers = new AnswerRecord(this.#looks);
    this.#ofWorker = new AnswerRecord(this.#looks);
  }

  /** Runs the sequence and returns its violations. */
  async play(): Promise<readonly string[]> {
    const { steps, every = everyMs } = this.#sequence;
    const isRestarted = steps.some(({ restart }) => restart !== undefined);
    // A real file: virtual time stands still while it is read and written.
    const folder = isRestarted ? mkdtempSync(join(tmpdir(), "rolecall-sequence-")) : null;
    try {
      const config = configOf(this.#sequence, this.#world, folder === null ? null : join(folder, "state.json"));
      await this.#begin(config);
      for (const step of steps)
        this.#time.after("world", warmUpMs + step.at * 1000, () => {
          this.#world.apply(step);
          this.#network.applyStep();
        });
      this.#lookLater(warmUpMs, every);
      await this.#pass(config);
      await this.#run?.stop();
    } finally {
      if (folder !== null) rmSync(folder, { recursive: true });
    }
    if (this.#failure !== null) throw this.#failure;
    return [
      ...faultsOf(this.#sequence, this.#answers),
      ...faultsOf(this.#sequence, this.#ofWorker).map((fault) => `worker: ${fault}`),
    ];
  }

  /** Lets time pass up to the end, with the restarts of rolecall. */
  async #pass(config: Config): Promise<void> {
    const time = this.#time;
    const { steps, lasts } = this.#sequence;
    for (const { at, restart } of steps) {
      if (restart === undefined) continue;
      await time.run(warmUpMs + at * 1000);
      const stopped = this.#run;
      this.#run = null;
      await stopped?.stop();
      await time.run(warmUpMs + (at + restart) * 1000);
      await this.#begin(config);
    }
    await time.run(warmUpMs + lasts * 1000);
  }

  async #begin(config: Config): Promise<void> {
    const run = new RolecallRun(config, this.#machine);
    await run.restore();
    this.#run = run;
    this.#time.after("delivery", 0, () => void this.#keep(run.start()));
  }

  #lookLater(delayMs: number, every: number): void {
    this.#time.after("delivery", delayMs, () => {
      if (this.#run !== null) void this.#keep(this.#look(this.#run));
      this.#lookLater(every, every);
    });
  }

  async #look(run: RolecallRun): Promise<void> {
    const at = (this.#time.nowMs - warmUpMs) / 1000;
    this.#answers.add(at, await Promise.all(this.#looks.map((look) => run.answer(look))));
    this.#ofWorker.add(at, await Promise.all(this.#looks.map((look) => run.answerOfWorker(look))));
  }

  async #keep(promise: Promise<void>): Promise<void> {
    try {
      await promise;
    } catch (error) {
      this.#failure ??= error instanceof Error ? error : new Error(String(error));
    }
  }
}

function configOf(sequence: Sequence, world: World, stateFile: string | null): Config {
  const configured = configurationWith([clusterOf(sequence, world)], 8008);
  const builtIn = stateFile === null ? configured : { ...configured, state_file: stateFile };
  const loaded = loadConfig({ file: null, builtIn, env: {}, flags: {} });
  if (!loaded.ok) throw new Error(loaded.problems.map(({ message }) => message).join("\n"));
  return loaded.config;
}
