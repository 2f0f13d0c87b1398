import { lastUncontestedLeaderOf, lockHolderOf } from "../cluster/leadership.ts";
import type { ClusterState } from "../cluster/snapshot.ts";
import { DocumentProber } from "./documents/document-prober.ts";
import { NodeProbeSet } from "./node-probe-set.ts";
import type { ProbeContext } from "./client/probe-context.ts";

/** Rounds "at once" are at least this far apart (design.md, rule 8), in ms. */
const roundGapMs = 250;

/** Asks all nodes of one cluster in the background, and follows its membership. */
export class ClusterProber {
  readonly #context: ProbeContext;
  readonly #seeds: readonly string[];
  readonly #documents: DocumentProber;
  readonly #nodes = new Map<string, NodeProbeSet>();
  #lastRoundMs = -Infinity;
  #wantsDocuments = false;
  #round: NodeJS.Timeout | null = null;
  #isStopped = false;

  constructor(context: ProbeContext, seeds: readonly string[]) {
    this.#context = context;
    this.#seeds = seeds;
    this.#documents = new DocumentProber(context, seeds);
  }

  /** Starts asking. Resolves after the first round, or after one timeout when the cluster is slower than that. */
  async start(): Promise<void> {
    const patience = new Promise<void>((resolve) => {
      setTimeout(resolve, this.#context.schedule.timeoutMs).unref();
    });
    await Promise.race([this.#firstRound(), patience]);
  }

  /** To be told of every change of the cluster's part: new members are asked, a change of claims is looked into at once. */
  follow(before: ClusterState, after: ClusterState): void {
    if (this.#isStopped) return;
    const isOther =
      before.nodes.length !== after.nodes.length || after.nodes.some(({ node }, at) => node !== before.nodes[at]?.node);
    if (isOther) void this.#reconcile();
    const isOtherLeader =
      lastUncontestedLeaderOf(before.leadership) !== lastUncontestedLeaderOf(after.leadership) ||
      lockHolderOf(before.leadership) !== lockHolderOf(after.leadership);
    if (isOtherLeader || before.lockClaims !== after.lockClaims) this.roundAtOnce();
    else if (before.leaderViews !== after.leaderViews && isContradicted(before, after)) this.#askNodesAtOnce();
    if (after.lockClaims.length > 1 || after.leadership.lostClaims.size > 0) this.#documents.keepRounds();
  }

  /** Asks all nodes and for all documents now, or as soon as the last such round is far enough away. */
  roundAtOnce(): void {
    this.#wantsDocuments = true;
    this.#askNodesAtOnce();
  }

  /** Takes new TLS material for all connections. */
  reconnect(): void {
    for (const node of this.#nodes.values()) node.reconnect();
    this.#documents.reconnect();
  }

  stop(): void {
    this.#isStopped = true;
    if (this.#round !== null) clearTimeout(this.#round);
    for (const node of this.#nodes.values()) node.stop();
    this.#documents.stop();
  }

  /** Documents are requested with the nodes where they are wanted. */
  #askNodesAtOnce(): void {
    if (this.#isStopped || this.#round !== null) return;
    const waitMs = Math.max(0, this.#lastRoundMs + roundGapMs - this.#context.now());
    this.#round = setTimeout(() => {
      this.#round = null;
      this.#lastRoundMs = this.#context.now();
      for (const node of this.#nodes.values()) node.probe();
      if (this.#wantsDocuments) this.#documents.probeAll();
      this.#wantsDocuments = false;
    }, waitMs);
  }

  async #firstRound(): Promise<void> {
    this.#lastRoundMs = this.#context.now();
    await Promise.all([this.#reconcile(), this.#firstDocuments()]);
    await this.#reconcile();
    await this.#documents.probe();
  }

  /** Seeds are tried in turn until one knows the members. */
  async #firstDocuments(): Promise<void> {
    for (let tried = 0; tried <= this.#seeds.length && !this.#isStopped; tried += 1) {
      await this.#documents.probe();
      if (this.#context.state().isMembershipKnown) return;
    }
  }

  /** Makes the probers those of the nodes known now. Resolves when what they are asking is answered: the new ones have asked once. */
  async #reconcile(): Promise<void> {
    const wanted = new Map(this.#context.state().nodes.map(({ node }) => [node.name, node]));
    for (const [name, prober] of this.#nodes) {
      if (prober.asks(wanted.get(name))) continue;
      prober.stop();
      this.#nodes.delete(name);
    }
    for (const node of wanted.values()) {
      if (this.#nodes.has(node.name) || this.#isStopped) continue;
      const prober = new NodeProbeSet(node, this.#context);
      this.#nodes.set(node.name, prober);
      prober.probe();
    }
    await Promise.all([...this.#nodes.values()].map(({ underWay }) => underWay));
  }
}

/** Whether a new view does not name the holder: then the node that it names has to answer for itself. */
function isContradicted(before: ClusterState, { leadership, leaderViews }: ClusterState): boolean {
  const lockHolder = lockHolderOf(leadership);
  if (lockHolder === null) return false;
  return [...leaderViews].some(
    ([witness, view]) => view.names !== lockHolder && view !== before.leaderViews.get(witness),
  );
}
