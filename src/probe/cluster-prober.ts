import type { HintEffect } from "../cluster/hint.ts";
import { lastLeaderOf, lockHolderOf, presentOrLastHolderOf } from "../cluster/leadership.ts";
import type { ClusterState } from "../cluster/snapshot.ts";
import type { CancelTimer, SetTimer } from "../cluster/timer.ts";
import type { ProbeContext } from "./client/probe-context.ts";
import { DocumentProber } from "./documents/document-prober.ts";
import { NodeProbers } from "./node-probers.ts";
import { Bursts } from "./bursts/bursts.ts";
import { setSystemTimer } from "./schedule/system-timer.ts";

/** The shortest time between two rounds that are requested outside the schedule (rule 8), in ms. */
const roundGapMs = 250;

/** Probes all nodes of one cluster in the background, and follows its membership. */
export class ClusterProber {
  readonly #context: ProbeContext;
  readonly #seeds: readonly string[];
  readonly #documents: DocumentProber;
  readonly #bursts: Bursts;
  readonly #nodes = new Map<string, NodeProbers>();
  #lastRoundMs = -Infinity;
  #wantsDocuments = false;
  #cancelRound: CancelTimer | null = null;
  #isStopped = false;

  /** @param seeds API base addresses to discover members from */
  constructor(context: ProbeContext, seeds: readonly string[]) {
    this.#context = context;
    this.#seeds = seeds;
    this.#documents = new DocumentProber(context, seeds);
    this.#bursts = new Bursts(context, { probe: (node) => this.#probeIfIdle(node) });
  }

  /** Starts probing. Resolves after the first round, or after one timeout if the cluster is slower than that. */
  async start(): Promise<void> {
    let cancel: CancelTimer | null = null;
    const timeout = new Promise<void>((resolve) => {
      cancel = this.#setTimer(resolve, this.#context.schedule.timeoutMs);
    });
    const firstRound = this.#firstRound().finally(() => {
      cancel?.();
      if (!this.#isStopped) this.#context.onFirstRound?.(this.#context.cluster);
    });
    await Promise.race([firstRound, timeout]);
  }

  /**
   * To be called with every change of the cluster's state. Starts and stops probers as members come and go. Requests a
   * round (probes of all nodes, and all documents) when the lock claims, the leader or its timeline change. Otherwise,
   * probes all nodes when a new view does not name the lock holder.
   */
  onChange(before: ClusterState, after: ClusterState): void {
    const hasOtherNodes =
      before.nodes.length !== after.nodes.length || after.nodes.some(({ node }, at) => node !== before.nodes[at]?.node);
    if (hasOtherNodes) void this.#reconcile();
    const hasOtherLeader =
      presentOrLastHolderOf(before.leadership) !== presentOrLastHolderOf(after.leadership) ||
      lockHolderOf(before.leadership) !== lockHolderOf(after.leadership);
    if (hasOtherLeader || hasOtherTimeline(before, after) || before.lockClaims !== after.lockClaims)
      this.requestRound();
    else if (before.leaderViews !== after.leaderViews && isContradicted(before, after)) this.#requestNodeProbes();
    const { lostClaims, refusedClaims } = after.leadership;
    const maySurvive = this.#context.policy.guards.surviveMs > 0;
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
    this.#wantsDocuments = true;
    this.#requestNodeProbes();
  }

  /** Applies new TLS material to all connections. */
  reconnect(): void {
    for (const node of this.#nodes.values()) node.reconnect();
    this.#documents.reconnect();
  }

  /** Ends probing. The results of probes in flight are discarded. */
  stop(): void {
    this.#isStopped = true;
    this.#cancelRound?.();
    for (const node of this.#nodes.values()) node.stop();
    this.#documents.stop();
    this.#bursts.stop();
  }

  /** Probes one node, or all with `null`, if no probe is in flight. @returns how many probes were sent */
  #probeIfIdle(name: string | null): number {
    let sent = 0;
    for (const [each, node] of this.#nodes) if ((name === null || each === name) && node.probeIfIdle()) sent += 1;
    return sent;
  }

  #probePaced(node: NodeProbers): Promise<void> {
    return this.#paced(() => {
      node.probe();
      return node.inFlight;
    });
  }

  /** Runs probes that begin outside the schedule, as soon as not too many of all clusters are in flight. */
  async #paced(task: () => Promise<unknown>): Promise<void> {
    const { pace } = this.#context;
    await (pace === undefined ? task() : pace.run(task));
  }

  get #setTimer(): SetTimer {
    return this.#context.setTimer ?? setSystemTimer;
  }

  #requestNodeProbes(): void {
    if (this.#isStopped || this.#cancelRound !== null) return;
    const waitMs = Math.max(0, this.#lastRoundMs + roundGapMs - this.#context.now());
    this.#cancelRound = this.#setTimer(() => {
      this.#cancelRound = null;
      this.#lastRoundMs = this.#context.now();
      for (const node of this.#nodes.values()) void this.#probePaced(node);
      if (this.#wantsDocuments) this.#documents.probeAll();
      this.#wantsDocuments = false;
    }, waitMs);
  }

  async #firstRound(): Promise<void> {
    this.#lastRoundMs = this.#context.now();
    await Promise.all([this.#reconcile(), this.#firstDocuments()]);
    await this.#reconcile();
    await this.#paced(() => this.#documents.probe());
  }

  /** Tries the seeds in turn until one knows the members. */
  async #firstDocuments(): Promise<void> {
    for (let tried = 0; tried <= this.#seeds.length; tried += 1) {
      await this.#paced(() => this.#documents.probe());
      if (this.#isStopped || this.#context.state().isMembershipKnown) return;
    }
  }

  /**
   * Starts and stops probers so that there is one for each known node. Resolves when the probes in flight have ended.
   */
  async #reconcile(): Promise<void> {
    const wanted = new Map(this.#context.state().nodes.map(({ node }) => [node.name, node]));
    for (const [name, prober] of this.#nodes) {
      if (prober.matches(wanted.get(name))) continue;
      prober.stop();
      this.#nodes.delete(name);
    }
    const begun: Promise<unknown>[] = [];
    for (const node of wanted.values()) {
      if (this.#nodes.has(node.name) || this.#isStopped) continue;
      const prober = new NodeProbers(node, this.#context);
      this.#nodes.set(node.name, prober);
      begun.push(this.#probePaced(prober));
    }
    await Promise.all([...begun, ...[...this.#nodes.values()].map(({ inFlight }) => inFlight)]);
  }
}

/**
 * The node whose claim stands, if it is not the last holder; otherwise `null`. The first claim that rolecall sees is no
 * change.
 */
function otherHolder(before: ClusterState, after: ClusterState): string | null {
  const last = lastLeaderOf(before.leadership);
  const holder = lockHolderOf(after.leadership);
  return last === null || holder === last ? null : holder;
}

/**
 * Whether the leader's timeline changed. A leader that crashes and is promoted again begins a timeline while it stays
 * the leader. Only a new `/history` shows which positions both timelines share.
 */
function hasOtherTimeline({ position: before }: ClusterState, { position }: ClusterState): boolean {
  return before !== null && position !== null && before.timeline !== position.timeline;
}

/** Whether a new view names another leader than the lock holder, or none. The node that it names has to be probed. */
function isContradicted(before: ClusterState, { leadership, leaderViews }: ClusterState): boolean {
  const lockHolder = lockHolderOf(leadership);
  if (lockHolder === null) return false;
  return [...leaderViews].some(
    ([witness, view]) => view.names !== lockHolder && view !== before.leaderViews.get(witness),
  );
}
