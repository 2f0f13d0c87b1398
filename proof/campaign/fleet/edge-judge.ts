import type { ClusterState } from "../../../src/core/cluster/snapshot.ts";
import { Oracle } from "../oracle/oracle.ts";
import type { Scene, Violation } from "../oracle/scene.ts";
import type { Said } from "../rolecall/asker.ts";
import { Recovery } from "../run/recovery.ts";
import { AskTimes } from "../sim/ask-times.ts";
import { Comparisons } from "../sim/comparisons.ts";
import { DcsPromise } from "../sim/dcs-promise.ts";
import { VirtualAsker } from "../sim/virtual-asker.ts";
import type { VirtualCluster } from "../sim/virtual-cluster.ts";
import { unexcused } from "../sim/virtual-owner.ts";
import { VirtualRounds } from "../sim/virtual-rounds.ts";
import type { VirtualTime } from "../sim/virtual-time.ts";
import type { Chance } from "../chance.ts";
import { EdgeEvidence } from "./edge-evidence.ts";
import type { VirtualEdge } from "./virtual-edge.ts";

/** What judges one instance's answers about one cluster. */
export interface EdgeJudgeParts {
  readonly edge: VirtualEdge;
  readonly cluster: VirtualCluster;
  readonly time: VirtualTime;
  readonly chance: Chance;
  /** Whether the instance's answers are compared with what other parts of it give. */
  readonly isCompared: boolean;
  /** Whether something keeps the instance from the evidence of the cluster now. */
  readonly isDisturbed: () => boolean;
  readonly onViolation: (violation: Violation) => void;
  readonly onAnswer: (answer: Said) => void;
}

/** One that hears nothing after it has stood still notices that within this time, in ms: it looks at its clock once a second. */
const noticedMs = 1_100;
/** How long after a disturbance an instance may still judge by what it had then, in ms, as one that follows one other. */
const settlingMs = 20_000;

/** Asks one instance about one cluster, and has the oracle judge its answers. */
export class EdgeJudge {
  readonly edge: VirtualEdge;
  readonly evidence: EdgeEvidence;
  readonly asker: VirtualAsker;
  readonly #parts: EdgeJudgeParts;
  readonly #rounds: VirtualRounds;
  readonly #asks: AskTimes;
  readonly #comparisons: Comparisons;
  readonly #dcsPromise: DcsPromise;
  #settledMs = 0;
  #recovery: Recovery | null = null;
  #isRecovered = false;
  #latest: readonly Said[] = [];
  /** How many of its answers were judged without any excuse. */
  unexcusedAnswers = 0;

  constructor(parts: EdgeJudgeParts) {
    this.#parts = parts;
    const { edge, cluster, time, chance } = parts;
    this.edge = edge;
    const { profile, scene: shared } = cluster;
    this.evidence = new EdgeEvidence(profile, cluster.name);
    const oracle = new Oracle();
    const scene: Scene = {
      ...shared,
      evidence: this.evidence,
      stalls: edge.stalls,
      replacedMs: new Map<string, number>(),
      namedUntilMs: new Map<string, number>(),
    };
    this.asker = new VirtualAsker(() => edge.subject, time);
    this.#rounds = new VirtualRounds(cluster, this.asker, { oracle, scene });
    const { armed } = shared;
    const about = { life: edge, asker: this.asker, time, cluster: cluster.name, armed };
    this.#comparisons = new Comparisons({ ...about, onViolation: (violation) => this.#accuse(violation) });
    this.#dcsPromise = new DcsPromise(scene);
    this.#asks = new AskTimes({
      time,
      chance,
      everyMs: () => (this.#recovery === null || this.#isRecovered ? 1 : 0.5) * profile.askEveryMs,
      expiresMs: (node) => this.#expiresMs(node),
      ask: (isSoon) => void this.#ask(isSoon),
    });
  }

  get isRecovered(): boolean {
    return this.#isRecovered;
  }

  start(delayMs: number): void {
    this.#asks.start(delayMs);
  }

  /** Something has changed: it asks soon. */
  soon(): void {
    this.#asks.soon();
  }

  stateChanged(before: ClusterState, after: ClusterState): void {
    this.#asks.stateChanged(before, after);
  }

  dcsRead(leader: string | null, sentMs: number): void {
    this.#dcsPromise.read(leader, this.#parts.time.nowMs, sentMs);
  }

  /** Looks at what time has changed. To be called with every step of the model. */
  tick(): void {
    const { cluster, time } = this.#parts;
    const { nowMs } = time;
    this.#look();
    this.#asks.truthChanged(cluster.troubles.changedMs);
    const { dcs, nodes } = cluster.world;
    if (dcs.isPaused || nodes.some(({ isFailsafe }) => isFailsafe)) this.#dcsPromise.permit(nowMs);
    if (dcs.isDown || cluster.members.isDisturbed) this.#dcsPromise.disturb(nowMs);
    if (this.#recovery !== null && !this.#isRecovered && !this.edge.isDown) this.#recover(nowMs, this.#recovery);
  }

  /** Everything is healed, and the instance must be right again from an instant on. */
  healed(faults: ConstructorParameters<typeof Recovery>[1], fromMs: number): void {
    this.#recovery = new Recovery(this.#parts.cluster, faults, fromMs);
  }

  /** Takes that something happens to the instance, or to an owner. */
  #look(): void {
    if (this.#parts.isDisturbed()) this.#settledMs = this.#parts.time.nowMs + settlingMs;
  }

  /** What an instance says of a node that it cannot know proves nothing. */
  #accuse(violation: Violation): void {
    const { edge, cluster, onViolation } = this.#parts;
    const { node } = violation;
    if (node !== null && !edge.isDown && edge.hasLost(cluster.name, node)) return;
    onViolation(violation);
  }

  #excuses(rule: string): boolean {
    if (rule === "probed") return true;
    this.#look();
    return !unexcused.includes(rule) && this.#parts.time.nowMs < this.#settledMs;
  }

  #expiresMs(node: string): number {
    const { maxAgeMs, slackMs } = this.#parts.cluster.profile;
    return (this.evidence.newestSure(node, "status", Infinity)?.arrivedMs ?? -Infinity) + maxAgeMs + slackMs;
  }

  #recover(nowMs: number, recovery: Recovery): void {
    const { isDone, violations } = recovery.look(nowMs, this.#latest);
    for (const violation of violations) this.#parts.onViolation(violation);
    this.#isRecovered ||= isDone;
  }

  async #ask(isSoon: boolean): Promise<void> {
    const { edge, cluster, time, isCompared, onAnswer } = this.#parts;
    if (edge.isDown || edge.isFrozen) return;
    try {
      const { answers, violations } = this.#rounds.next(time.nowMs, this.#recovery !== null);
      const late = this.#dcsPromise.judge(answers, (node) => cluster.isMoved(node));
      for (const violation of [...violations, ...late]) if (!this.#excuses(violation.rule)) this.#accuse(violation);
      if (time.nowMs >= this.#settledMs) this.unexcusedAnswers += answers.length;
      for (const answer of answers) onAnswer(answer);
      this.#latest = answers;
      const hasStoodStill = edge.stalls.within(time.nowMs - noticedMs, time.nowMs) > 0;
      if (isCompared && !hasStoodStill) await this.#comparisons.compare(answers, isSoon);
    } catch (error) {
      this.#accuse({ rule: "answers", node: null, detail: String(error) });
    }
  }
}
