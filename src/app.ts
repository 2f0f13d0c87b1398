import { randomBytes } from "node:crypto";
import { withAccusations } from "./accusations-file.ts";
import { handlerFor } from "./answering.ts";
import { Chronicle } from "./chronicle.ts";
import { Clock, originOfClock, type ClockGap } from "./clock.ts";
import type { Outcome } from "./cluster/outcome.ts";
import type { ClusterPart } from "./cluster/snapshot.ts";
import type { Config, ListenerConfig } from "./config/config.ts";
import { withDocumentLog } from "./document-log.ts";
import { Drains } from "./drains.ts";
import { Entrances, inheritedSockets } from "./entrances.ts";
import type { Door } from "./front/doors.ts";
import type { Handler } from "./front/listener.ts";
import { PageGate } from "./front/page-gate.ts";
import { Tally } from "./front/tally.ts";
import { Gatehouse } from "./gatehouse.ts";
import { lostLinesOf, type Logger } from "./log.ts";
import { isRememberedAlike, MembersFile, readMembers } from "./members-file.ts";
import { Metrics } from "./metrics/metrics.ts";
import { Probers } from "./probe/probers.ts";
import { isBlindEverywhere } from "./readiness.ts";
import { Store } from "./store.ts";
import { livenessEvery, tend } from "./tend.ts";
import { version } from "./version.ts";
import { countOfWorkers } from "./workers/count.ts";
import type { Phase, Standing } from "./workers/messages.ts";

/** Reads the configuration again; gives why it came to nothing, or `null`. */
type Reload = () => Promise<string | null>;

/** The fuse box: the only place where the rooms are wired together. */
export class App {
  readonly #log: Logger;
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #probers: Probers;
  readonly #entrances: Entrances;
  readonly #workers: number;
  readonly #gatehouse: Gatehouse;
  readonly #members: MembersFile;
  readonly #metrics: Metrics;
  readonly #drains: Drains;
  readonly #tally = new Tally();
  readonly #gate = new PageGate();
  readonly #chronicle: Chronicle;
  #config: Config;
  #beat: NodeJS.Timeout | null = null;
  #phase: Phase = "starting";
  #reload: Reload = () => Promise.resolve("nobody told this process how");
  #file: string | null = null;

  /** @param inherited file descriptors of listening sockets passed by systemd: the first is the first listener's, and so on */
  constructor(config: Config, log: Logger, inherited: readonly number[] = []) {
    this.#config = config;
    this.#log = log;
    const remembered = config.stateFile === null ? new Map() : this.#readMembers(config, config.stateFile);
    const tended = tend(config, remembered);
    const begun = config.stateFile === null ? tended : withAccusations(tended, config.stateFile);
    this.#store = new Store(randomBytes(6).toString("hex"), begun);
    this.#clock = new Clock({ beatMs: config.probe.intervalMs, onGap: (gap) => this.#onGap(gap) });
    const settings = (cluster: string): ReturnType<Store["settings"]> => this.#store.settings(cluster);
    const record = (outcome: Outcome): void => this.#record(outcome);
    const wires = { settings, now: () => this.#clock.now(), wall: () => this.#clock.wall(), snapshot: () => this.#store.current };
    this.#metrics = new Metrics({
      ...wires,
      answers: () => [...this.#tally.rows(), ...this.#entrances.answers()],
      workers: () => this.#entrances.usage(),
      lostLogLines: () => lostLinesOf(log),
      refresh: () => this.#entrances.refresh(),
      exporter: () => this.#config.exporter,
      asks: () => ({ probe: this.#config.probe, livenessEvery }),
      version: version(),
    });
    this.#probers = new Probers({
      part: (cluster) => this.#part(cluster),
      ...wires,
      random: Math.random,
      ...withDocumentLog({ ...wires, record, onAsked: (asked) => this.#metrics.probed(asked) }, log),
      onTls: (cluster, problem) => this.#log[problem === null ? "info" : "error"]({ cluster, problem }, "TLS files read"),
    });
    this.#gatehouse = new Gatehouse({ ...wires, askAtOnce: (name) => this.#probers.ask(name), log, metrics: this.#metrics.management });
    this.#members = new MembersFile(log);
    this.#chronicle = new Chronicle({ log, metrics: this.#metrics, clock: this.#clock });
    this.#workers = countOfWorkers(config.workers);
    this.#entrances = new Entrances(
      this.#workers,
      {
        log,
        handlerFor: (listener) => this.#handlerFor(listener),
        eventsOf: (listener) => this.#gatehouse.eventsOf(listener),
        standing: () => this.#standing(),
        onContained: (problem) => this.contained(problem),
      },
      inheritedSockets(config.listen, inherited),
    );
    this.#drains = new Drains(this.#store, { clock: this.#clock, log, stateFile: config.stateFile, record });
    this.#store.follow((...recorded) => this.#entrances.record(...recorded));
    this.#store.watch((before, after) => this.#onPart(before, after));
    this.#store.watch(() => this.#gatehouse.snapshots.changed());
  }

  /** The listeners that are open, with the ports they have. */
  get doors(): readonly Door[] {
    return this.#entrances.doors;
  }

  /**
   * Starts: admin listeners open at once, probing begins, health listeners open after the first round or one timeout
   * (design.md, "Deployment we promise").
   * @throws DoorError where a listener cannot be opened
   */
  async start(): Promise<void> {
    this.#gatehouse.start(this.#config.clusters);
    if (this.#config.stateFile !== null) await this.#members.sweep(this.#config.stateFile);
    await this.#entrances.openAdmin(this.#config.listen);
    this.#startBeating();
    await this.#probers.start(this.#config, livenessEvery);
    await this.#entrances.open(this.#config.listen);
    this.#enter("serving");
  }

  /**
   * Takes another configuration: unchanged listeners keep their sockets, nodes whose address stays keep their evidence.
   * @throws DoorError where a new listener cannot be opened; then the old configuration stays in force
   */
  async reload(config: Config): Promise<void> {
    try {
      await this.#entrances.open(config.listen, () => {
        this.#config = config;
        this.#store.replace(tend(config, new Map(this.#store.current.parts.map((part) => [part.name, part]))));
      });
    } catch (error) {
      this.reloadRefused();
      throw error;
    }
    if (countOfWorkers(config.workers) !== this.#workers)
      this.#log.warn({ workers: this.#workers }, "another number of workers needs a restart");
    this.#log.level = config.log.level;
    this.#metrics.forgetNodes();
    this.#gatehouse.start(config.clusters);
    this.#startBeating();
    await this.#probers.start(config, livenessEvery);
    this.#metrics.reloaded("applied");
  }

  /** To be told how the configuration is read again: listeners of the exporter dialect can be asked for it. */
  reloadBy(reload: Reload, file: string | null): void {
    this.#reload = reload;
    this.#file = file;
  }

  /** A reload that came to nothing is counted too. */
  reloadRefused(): void {
    this.#metrics.reloaded("refused");
  }

  /** Logs and counts what only the last resort of a process caught. */
  contained(error: unknown): void {
    this.#gatehouse.contained(error);
  }

  /** Stops. Where it drains, `/readyz` says no and answers go on for the configured time before everything is closed. */
  async stop({ drains }: { readonly drains: boolean }): Promise<void> {
    this.#enter("draining");
    // Unreferenced, for a second call ends without it: while it lasts the open doors keep the process.
    if (drains) await new Promise((resolve) => void setTimeout(resolve, this.#config.drainMs).unref());
    await this.#entrances.close();
    this.#probers.stop();
    this.#gatehouse.stop();
    this.#drains.stop();
    if (this.#beat !== null) clearInterval(this.#beat);
    await this.#members.written;
  }

  #handlerFor(listener: ListenerConfig): Handler {
    return handlerFor(listener, this.#config, {
      store: this.#store,
      clock: this.#clock,
      chronicle: this.#chronicle,
      gatehouse: this.#gatehouse,
      metrics: this.#metrics,
      drains: this.#drains,
      tally: this.#tally,
      gate: this.#gate,
      unready: () => this.#unready(),
      reload: () => this.#reload(),
      file: () => this.#file,
    });
  }

  /** What a worker answers from. */
  #standing(): Omit<Standing, "relay"> {
    const { instance, sequence, parts } = this.#store.current;
    const clock = this.#clock.read();
    return { config: this.#config, instance, sequence, parts, phase: this.#phase, clock, originMs: originOfClock() };
  }

  #enter(phase: Phase): void {
    this.#phase = phase;
    this.#entrances.tellPhase(phase);
  }

  /** Why this process should not be sent traffic, or `null`. */
  #unready(): string | null {
    if (this.#phase !== "serving") return this.#phase;
    return isBlindEverywhere(this.#store, this.#clock.now()) ? "blind" : null;
  }

  #part(cluster: string): ClusterPart | undefined {
    const { parts, index } = this.#store.current;
    return parts[index.get(cluster) ?? -1];
  }

  /** A mistake of our own in taking an answer in must not end the probing: that node's evidence ages, and ages into a no. */
  #record(outcome: Outcome): void {
    try {
      const nowMs = this.#clock.now();
      this.#chronicle.heard(outcome, nowMs);
      this.#store.record(outcome, nowMs);
    } catch (error) {
      this.#log.error({ err: error, cluster: outcome.cluster, kind: outcome.kind }, "outcome not recorded");
    }
  }

  #onPart(before: ClusterPart, after: ClusterPart): void {
    const settings = this.#store.settings(after.name);
    if (settings === undefined) return;
    this.#chronicle.changed(before, after, { settings, nowMs: this.#clock.now() });
    if (this.#config.stateFile !== null && !isRememberedAlike(before, after))
      this.#members.write(this.#config.stateFile, () => this.#store.current);
    this.#probers.follow(before, after);
  }

  #readMembers({ clusters }: Config, file: string): ReturnType<typeof readMembers> {
    return readMembers(file, clusters, (problem) => this.#log.warn({ file, problem }, "state file not used, or used only in part"));
  }

  #onGap({ addedMs, stalledMs }: ClockGap): void {
    const found = { gap_ms: Math.round(addedMs), stall_ms: Math.round(stalledMs) };
    this.#log.warn(found, "clock gap detected; probing all nodes again");
    this.#probers.askAll();
  }

  #startBeating(): void {
    if (this.#beat !== null) clearInterval(this.#beat);
    this.#clock.beatEvery(this.#config.probe.intervalMs);
    this.#beat = setInterval(() => this.#clock.beat(), this.#config.probe.intervalMs);
  }
}
