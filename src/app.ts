import { randomBytes } from "node:crypto";
import { Clock } from "./clock.ts";
import type { Outcome } from "./cluster/outcome.ts";
import type { ClusterPart } from "./cluster/snapshot.ts";
import type { Config, ListenerConfig } from "./config/config.ts";
import { withDocumentLog } from "./document-log.ts";
import { Drains } from "./drains.ts";
import { exporterHandler } from "./exporter-door.ts";
import { answerAdmin } from "./front/admin-dialect.ts";
import type { Evidence } from "./front/answer.ts";
import { Doors, type Door } from "./front/doors.ts";
import type { Handler } from "./front/listener.ts";
import type { OperatorSources } from "./front/operator.ts";
import { NodeDialect } from "./front/node-dialect.ts";
import type { Request } from "./front/request.ts";
import { Tally } from "./front/tally.ts";
import { Gatehouse } from "./gatehouse.ts";
import { logChange, type Logger } from "./log.ts";
import { isRememberedAlike, MembersFile, readMembers } from "./members-file.ts";
import { Changes } from "./metrics/changes.ts";
import { Disputes } from "./metrics/disputes.ts";
import { Metrics } from "./metrics/metrics.ts";
import { Recorder } from "./metrics/recorder.ts";
import { VerdictLog } from "./metrics/verdict-log.ts";
import { Probers } from "./probe/probers.ts";
import { isBlindEverywhere } from "./readiness.ts";
import { Store } from "./store.ts";
import { livenessEvery, tend } from "./tend.ts";
import { version } from "./version.ts";

/** Reads the configuration again; gives why it came to nothing, or `null`. */
type Reload = () => Promise<string | null>;

/** The fuse box: the only place where the rooms are wired together. */
export class App {
  readonly #log: Logger;
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #probers: Probers;
  readonly #doors: Doors;
  readonly #gatehouse: Gatehouse;
  readonly #members: MembersFile;
  readonly #metrics: Metrics;
  readonly #drains: Drains;
  readonly #tally = new Tally();
  readonly #changes = new Changes();
  readonly #disputes = new Disputes();
  readonly #verdicts = new VerdictLog();
  readonly #recorder = new Recorder();
  #config: Config;
  #beat: NodeJS.Timeout | null = null;
  #phase: "starting" | "serving" | "draining" = "starting";
  #reload: Reload = () => Promise.resolve("nobody told this process how");
  #file: string | null = null;

  /** @param inherited file descriptors of listening sockets passed by systemd: the first is the first listener's, and so on */
  constructor(config: Config, log: Logger, inherited: readonly number[] = []) {
    this.#config = config;
    this.#log = log;
    const remembered = config.stateFile === null ? new Map() : readMembers(config.stateFile, config.clusters);
    this.#store = new Store(randomBytes(6).toString("hex"), tend(config, remembered));
    this.#clock = new Clock({ beatMs: config.probe.intervalMs, onGap: (gapMs) => this.#onGap(gapMs) });
    const settings = (cluster: string): ReturnType<Store["settings"]> => this.#store.settings(cluster);
    const record = (outcome: Outcome): void => this.#record(outcome);
    const wires = { settings, now: () => this.#clock.now(), wall: () => this.#clock.wall(), snapshot: () => this.#store.current };
    this.#metrics = new Metrics({
      ...wires,
      answers: () => this.#tally.rows(),
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
    const sockets = new Map(config.listen.slice(0, inherited.length).map((listener, at) => [listener, inherited[at] ?? -1]));
    this.#doors = new Doors((listener) => this.#gatehouse.eventsOf(listener), sockets);
    this.#drains = new Drains(this.#store, { clock: this.#clock, log, stateFile: config.stateFile, record });
    this.#store.watch((before, after) => this.#onPart(before, after));
    this.#store.watch(() => this.#gatehouse.snapshots.changed());
  }

  /** The listeners that are open, with the ports they have. */
  get doors(): readonly Door[] {
    return this.#doors.doors;
  }

  /**
   * Starts: admin listeners open at once, probing begins, health listeners open after the first round or one timeout
   * (design.md, "Deployment we promise").
   * @throws DoorError where a listener cannot be opened
   */
  async start(): Promise<void> {
    this.#gatehouse.start(this.#config.clusters);
    await this.#open(this.#config.listen.filter(({ dialect }) => dialect === "admin"));
    this.#startBeating();
    await this.#probers.start(this.#config, livenessEvery);
    await this.#open(this.#config.listen);
    this.#phase = "serving";
  }

  /**
   * Takes another configuration: unchanged listeners keep their sockets, nodes whose address stays keep their evidence.
   * @throws DoorError where a new listener cannot be opened; then the old configuration stays in force
   */
  async reload(config: Config): Promise<void> {
    try {
      await this.#open(config.listen, () => {
        this.#config = config;
        this.#store.replace(tend(config, new Map(this.#store.current.parts.map((part) => [part.name, part]))));
      });
    } catch (error) {
      this.reloadRefused();
      throw error;
    }
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

  /** Stops. Where it drains, `/readyz` says no and answers go on for the configured time before everything is closed. */
  async stop({ drains }: { readonly drains: boolean }): Promise<void> {
    this.#phase = "draining";
    // Unreferenced, for a second call ends without it: while it lasts the open doors keep the process.
    if (drains) await new Promise((resolve) => void setTimeout(resolve, this.#config.drainMs).unref());
    await this.#doors.close();
    this.#probers.stop();
    this.#gatehouse.stop();
    this.#drains.stop();
    if (this.#beat !== null) clearInterval(this.#beat);
    await this.#members.written;
  }

  #open(listeners: readonly ListenerConfig[], commit?: () => void): Promise<void> {
    return this.#doors.apply(listeners, (listener) => this.#handlerFor(listener), commit);
  }

  #handlerFor(listener: ListenerConfig): Handler {
    const unready = (): string | null => this.#unready();
    const { hostSuffixes, ignoreParams, clusters, probe } = this.#config;
    const bound = { ...listener, clusters: clusters.map(({ name }) => name), hostSuffixes };
    const operator = this.#operatorSources();
    if (listener.dialect === "admin") {
      const metrics = (): ReturnType<Metrics["render"]> => this.#metrics.render();
      const sources = { bound, unready, operator, metrics, drains: this.#drains, snapshots: this.#gatehouse.snapshots };
      return (request, message) => answerAdmin(request, message, sources);
    }
    const { settings } = operator;
    const evidence = (): Evidence => ({ snapshot: this.#store.current, settings, nowMs: this.#clock.now(), unready });
    const onAnswer = (route: string, status: number): void => this.#tally.count(route, status);
    if (listener.dialect === "exporter") {
      const wires = { config: this.#config, metrics: this.#metrics, file: this.#file, evidence, onAnswer };
      return exporterHandler(listener, { ...wires, reload: () => this.#reload() });
    }
    const dialect = new NodeDialect(
      {
        bound,
        rules: { ignoreParams, ignoresUnknown: listener.node !== null, defaults: listener.defaults, lagTimeMsLeast: 2 * probe.intervalMs },
        passes: listener.door.management,
      },
      { evidence, operator, passage: this.#gatehouse.gateway, onAnswer },
    );
    return Object.assign((request: Request) => dialect.handle(request), this.#config.fastLane ? { quick: dialect.quick() } : {});
  }

  #operatorSources(): OperatorSources {
    return {
      snapshot: () => this.#store.current,
      settings: (cluster) => this.#store.settings(cluster),
      now: () => this.#clock.now(),
      wall: () => this.#clock.wall(),
      changes: (cluster, node) => this.#verdicts.of(cluster, node),
      recorded: (cluster, fromWallMs, toWallMs) => this.#recorder.between(cluster, fromWallMs, toWallMs),
    };
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
      this.#recorder.take(outcome, nowMs, this.#clock.wall());
      this.#store.record(outcome, nowMs);
    } catch (error) {
      this.#log.error({ err: error, cluster: outcome.cluster, kind: outcome.kind }, "outcome not recorded");
    }
  }

  #onPart(before: ClusterPart, after: ClusterPart): void {
    const settings = this.#store.settings(after.name);
    if (settings === undefined) return;
    const settled = { settings, nowMs: this.#clock.now() };
    for (const change of this.#changes.take(before, after, settled)) {
      logChange(this.#log, change);
      this.#verdicts.add(change, this.#clock.wall());
    }
    const dispute = this.#disputes.take(after, settled);
    if (dispute !== null) {
      this.#metrics.disputed(dispute.cluster);
      this.#log.warn(dispute, "more than one node claims the lock, or one that the cluster does not confirm");
    }
    if (this.#config.stateFile !== null && !isRememberedAlike(before, after))
      this.#members.write(this.#config.stateFile, () => this.#store.current);
    this.#probers.follow(before, after);
  }

  #onGap(gapMs: number): void {
    this.#log.warn({ gap_ms: Math.round(gapMs) }, "time passed unseen: all evidence is older by it, every node is asked now");
    this.#probers.askAll();
  }

  #startBeating(): void {
    if (this.#beat !== null) clearInterval(this.#beat);
    this.#clock.beatEvery(this.#config.probe.intervalMs);
    this.#beat = setInterval(() => this.#clock.beat(), this.#config.probe.intervalMs);
  }
}
