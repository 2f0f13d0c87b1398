import type { HintEffect } from "../cluster/hint.ts";
import { lockHolderOf, presentOrLastHolderOf } from "../cluster/leadership.ts";
import type { ClusterState } from "../cluster/snapshot.ts";
import type { CancelTimer, SetTimer } from "../cluster/timer.ts";
import type { ProbeContext } from "./client/probe-context.ts";
import { DocumentProber } from "./documents/document-prober.ts";
import { probedAddresses, provedAddresses, type ProbedAddresses } from "../health/evidence/node/probed-addresses.ts";
import { AddressProber } from "./address-prober.ts";
import { NodeProbers } from "./node-probers.ts";
import { Bursts } from "./bursts/bursts.ts";
import { hasNewDispute, hasOtherTimeline, isContradicted, isProbedOtherwise, otherHolder } from "./changes.ts";
import type { PaceTurn } from "./schedule/pace.ts";
import { setSystemTimer } from "./schedule/system-timer.ts";

/** The first round asks the configured addresses, the listed ones, and those who have proved themselves. */
const firstSteps = 4;
/** The shortest time between two rounds that are requested outside the schedule (rule 8), in ms. */
const roundGapMs = 250;
/** How many nodes a burst probes at the same time, and after how many ms the next ones. */
const burstSlice = { nodes: 4, gapMs: 4 } as const;

/** Why this process asked nobody for a while: the machine was suspended, or the process was late. */
export type ProcessPause = "suspended" | "stalled";

/** The next round outside the schedule. `stopped` is final. */
type NextRound =
  | { readonly kind: "none" | "stopped" }
  | { readonly kind: "due"; withDocuments: boolean; readonly cancel: CancelTimer };

/** Probes all nodes of one cluster in the background, and follows its membership. */
export class ClusterProber {
  readonly #context: ProbeContext;
  readonly #documents: DocumentProber;
  readonly #bursts: Bursts;
  readonly #nodes = new Map<string, NodeProbers>();
  /** The addresses that no proved node has. */
  readonly #addresses = new Map<string, AddressProber>();
  #lastRoundMs = -Infinity;
  #round: NextRound = { kind: "none" };

  constructor(context: ProbeContext) {
    this.#context = context;
    this.#documents = new DocumentProber(context);
    this.#bursts = new Bursts(context, {
      probe: (node) => (this.#nodes.get(node)?.probeIfIdle() === true ? 1 : 0),
      probeAll: () => this.#probeIdle([...this.#nodes.values()]),
    });
  }

  /** Starts probing. Resolves after the first round, or after one timeout if the cluster is slower than that. */
  start(): Promise<void> {
    const firstRound = this.#firstRound().finally(() => {
      if (!this.#isStopped) this.#context.onFirstRound?.(this.#context.cluster);
    });
    return this.#atMostOneTimeout(firstRound);
  }

  /**
   * Applies the configuration that is in force now: nodes that it does not change are probed as before. The
   * time that bursts have used is counted anew, so that after a reload each switchover is probed in bursts again.
   * @param renewed the addresses to which other connections are needed
   * @returns resolves as {@link start}
   */
  configure(renewed: ReadonlySet<string>): Promise<void> {
    this.#forget(renewed);
    this.#documents.startRoundsIfWanted();
    this.#bursts.renew();
    return this.#atMostOneTimeout(this.#reconcile().then(() => this.#restProbed()));
  }

  /**
   * To be called with every change of the cluster's state. Starts and stops probers as members come and go. Requests a
   * round (probes of all nodes, and all documents) when the lock claims, the leader or its timeline change. Otherwise,
   * probes all nodes when a new view does not name the lock holder.
   */
  onChange(before: ClusterState, after: ClusterState): void {
    if (isProbedOtherwise(before, after)) void this.#reconcile();
    // Lists that are older than a change of addresses would vote against it.
    if (hasNewDispute(before, after)) this.#documents.startRound();
    const hasOtherLeader =
      presentOrLastHolderOf(before.leadership) !== presentOrLastHolderOf(after.leadership) ||
      lockHolderOf(before.leadership) !== lockHolderOf(after.leadership);
    if (hasOtherLeader || hasOtherTimeline(before, after) || before.lockClaims !== after.lockClaims)
      this.requestRound();
    else if (before.leaderViews !== after.leaderViews && isContradicted(before, after))
      this.#requestRound({ withDocuments: false });
    const { lostClaims, refusedClaims } = after.leadership;
    const maySurvive = this.#context.policy().guards.surviveMs > 0;
    if (maySurvive || after.lockClaims.length > 1 || lostClaims.size > 0 || refusedClaims.size > 0)
      this.#documents.startRoundsIfWanted();
    const holder = otherHolder(before, after);
    if (holder !== null) this.#bursts.claimed(holder);
    else this.#bursts.update();
  }

  /**
   * Something outside the probes announced a change: begins a burst and, for the whole cluster, requests a round. Hints
   * without end request no rounds without end.
   * @param node the only node to probe often, or `null` for all
   */
  hint(node: string | null): HintEffect {
    const effect = this.#bursts.hint(node);
    if (node === null && effect === "begun") this.requestRound();
    return effect;
  }

  /**
   * Probes all nodes and requests all documents now, or as soon as the shortest time since the last round has passed.
   */
  requestRound(): void {
    this.#requestRound({ withDocuments: true });
  }

  /**
   * Probes all nodes and requests all documents after a pause of this process.
   * @param pause `suspended`: what is in flight was sent before, so it is sent again. `stalled`: its answers are read now
   * @returns resolves when the nodes have answered
   */
  async catchUp(pause: ProcessPause): Promise<void> {
    // Who finds the pause has only read the clock, and goes on in between.
    await new Promise<void>((resolve) => void this.#setTimer(resolve, 0));
    if (this.#isStopped) return;
    this.#lastRoundMs = this.#context.now();
    const probes = this.#probers.map((prober) =>
      this.#paced("later", () => {
        if (pause === "suspended") prober.probe();
        else prober.probeIfIdle();
        return prober.inFlight;
      }),
    );
    await Promise.all([...probes, this.#paced("later", async () => this.#documents.probeAll())]);
  }

  /** The next probes of a node open new connections: its name leads elsewhere. */
  reconnectTo(node: string): void {
    this.#nodes.get(node)?.reconnect();
  }

  /** Other probes of nodes are brought than before. */
  followBrought(): void {
    if (!this.#isStopped) void this.#reconcile();
  }

  /** Applies new TLS material to all connections. */
  reconnect(): void {
    for (const prober of this.#probers) prober.reconnect();
    this.#documents.reconnect();
  }

  /** Ends probing. The results of probes in flight are discarded. */
  stop(): void {
    if (this.#round.kind === "due") this.#round.cancel();
    this.#round = { kind: "stopped" };
    for (const prober of this.#probers) prober.stop();
    this.#documents.stop();
    this.#bursts.stop();
  }

  /**
   * Probes the nodes that no probe is in flight to, a few at a time: the answers of a large cluster, or of hostile
   * nodes, must not keep this process from answering checks.
   */
  #probeIdle(nodes: readonly NodeProbers[]): void {
    if (this.#isStopped) return;
    const probes = nodes.slice(0, burstSlice.nodes).filter((node) => node.probeIfIdle()).length;
    this.#context.onBurstProbes?.({ cluster: this.#context.cluster, probes });
    const rest = nodes.slice(burstSlice.nodes);
    if (rest.length > 0) this.#setTimer(() => this.#probeIdle(rest), burstSlice.gapMs);
  }

  /** Stops the probers that ask some addresses, to start them anew. */
  #forget(origins: ReadonlySet<string>): void {
    for (const [name, prober] of this.#nodes)
      if (prober.asksAny(origins)) {
        prober.stop();
        this.#nodes.delete(name);
      }
    for (const api of origins) {
      this.#addresses.get(api)?.stop();
      this.#addresses.delete(api);
    }
    this.#documents.reconnect(origins);
  }

  async #atMostOneTimeout(task: Promise<void>): Promise<void> {
    let cancel: CancelTimer | null = null;
    const timeout = new Promise<void>((resolve) => {
      cancel = this.#setTimer(resolve, this.#context.schedule.timeoutMs);
    });
    await Promise.race([task.finally(() => cancel?.()), timeout]);
  }

  get #probers(): readonly (NodeProbers | AddressProber)[] {
    return [...this.#nodes.values(), ...this.#addresses.values()];
  }

  #probePaced(prober: NodeProbers | AddressProber, turn: PaceTurn): Promise<void> {
    return this.#paced(turn, () => {
      prober.probe();
      return prober.inFlight;
    });
  }

  /** Runs probes that begin outside the schedule, as soon as not too many of all clusters are in flight. */
  async #paced(turn: PaceTurn, task: () => Promise<unknown>): Promise<void> {
    const { pace } = this.#context;
    await (pace === undefined ? task() : pace.run(task, turn));
  }

  get #setTimer(): SetTimer {
    return this.#context.setTimer ?? setSystemTimer;
  }

  get #isStopped(): boolean {
    return this.#round.kind === "stopped";
  }

  #requestRound({ withDocuments }: { readonly withDocuments: boolean }): void {
    const round = this.#round;
    if (round.kind === "due") round.withDocuments ||= withDocuments;
    if (round.kind !== "none") return;
    const waitMs = Math.max(0, this.#lastRoundMs + roundGapMs - this.#context.now());
    const cancel = this.#setTimer(() => this.#startRound(next.withDocuments), waitMs);
    const next = { kind: "due" as const, withDocuments, cancel };
    this.#round = next;
  }

  #startRound(withDocuments: boolean): void {
    this.#round = { kind: "none" };
    this.#lastRoundMs = this.#context.now();
    for (const prober of this.#probers) void this.#probePaced(prober, "later");
    if (withDocuments) void this.#paced("later", async () => this.#documents.probeAll());
  }

  /** Asks the configured addresses, then the listed ones, then the members that have proved themselves. */
  async #firstRound(): Promise<void> {
    this.#lastRoundMs = this.#context.now();
    const documentStep = this.#context.policy().discovers ? 1 : 0;
    for (let step = 0; step < firstSteps; step += 1)
      await Promise.all([this.#reconcile(), step === documentStep ? this.#documentsPaced() : null]);
    await this.#documentsPaced();
    // Last, so that one that is silent delays no document.
    await this.#restProbed();
  }

  async #restProbed(): Promise<void> {
    await Promise.all([...this.#nodes.values()].map(({ restInFlight }) => restInFlight));
  }

  #documentsPaced(): Promise<void> {
    return this.#paced("first", () => this.#documents.probe());
  }

  /**
   * Starts and stops probers so that there is one for each proved node, and one for each other address. Resolves when
   * the probes in flight have ended.
   */
  async #reconcile(): Promise<void> {
    const { state, now } = this.#context;
    const policy = this.#context.policy();
    const cluster = state();
    // A member whose address has not proved itself is probed as an address: see `AddressProber`. Where nothing is
    // discovered there is none: a member that another instance has told of is probed as it is.
    const nodes = cluster.nodes.filter(({ proof }) => proof !== "none" || !policy.discovers);
    const wanted = new Map(nodes.map(({ node }) => [node.name, node]));
    for (const [name, prober] of this.#nodes) {
      if (prober.matches(wanted.get(name))) continue;
      prober.stop();
      this.#nodes.delete(name);
    }
    const begun: Promise<unknown>[] = [];
    for (const node of wanted.values()) {
      if (this.#isStopped) break;
      const known = this.#nodes.get(node.name);
      const prober = known ?? new NodeProbers(node, this.#context);
      prober.follow(node);
      if (known !== undefined) continue;
      this.#nodes.set(node.name, prober);
      begun.push(this.#probePaced(prober, "first"));
    }
    if (policy.discovers)
      begun.push(...this.#reconcileAddresses(probedAddresses(cluster, { policy, nowMs: now() }), cluster));
    await Promise.all([...begun, ...this.#probers.map(({ inFlight }) => inFlight)]);
  }

  /** @returns the probes that it began */
  #reconcileAddresses({ configured, listed }: ProbedAddresses, { contacts }: ClusterState): readonly Promise<void>[] {
    const own = provedAddresses(this.#context.state().nodes);
    // One that no list has named is here because it was configured.
    const known = [...contacts].flatMap(([api, { listedAtMs }]) =>
      own.has(api) || listedAtMs === -Infinity ? [] : [api],
    );
    const wanted = new Set([...configured, ...listed, ...known]);
    for (const [api, prober] of this.#addresses) {
      if (wanted.has(api) && prober.isConfigured === configured.has(api)) continue;
      prober.stop();
      this.#addresses.delete(api);
    }
    const begun: Promise<void>[] = [];
    for (const api of wanted) {
      if (this.#addresses.has(api) || this.#isStopped) continue;
      const prober = new AddressProber(api, this.#context, configured.has(api));
      this.#addresses.set(api, prober);
      begun.push(this.#probePaced(prober, "first"));
    }
    return begun;
  }
}
