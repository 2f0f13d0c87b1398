import type { Said } from "../rolecall/asker.ts";
import type { ModelNode } from "../world/node.ts";
import { hasDiverged, sharesBranch } from "../world/wal.ts";
import { namedLeader, rowOf } from "../wire/served.ts";
import {
  claimsOfOthers,
  isHonest,
  isRowBehind,
  lastNewsMs,
  limitOf,
  marginOf,
  states,
  viewsOfOthers,
} from "./hold-evidence.ts";
import { isListedBy, timelineOf, topOf } from "./reports.ts";
import { ago, held, parameterOf, routeOf, type Scene, slackMs, type Violation } from "./scene.ts";
import { stoodLast, type Stood } from "./standing.ts";

/** For how long the true positions of leaders are kept, in ms: longer than every hold. */
const keptMs = 400_000;

/** A position of the leader of the cluster, by the truth. */
interface TruePosition {
  readonly atMs: number;
  readonly position: number;
}

/** A check of a replica with a limit in time, and its answer. */
interface Asked {
  readonly scene: Scene;
  readonly answer: Said;
  readonly node: string;
  readonly limitMs: number;
}

/**
 * The promises about lag in time while no leader states a position (rule 4, the hold). They know the truth: what the
 * leader wrote, and what each replica has.
 *
 * - `hold`: from the leader's last position to the next one, which the next leader or what another replica receives
 *   from it shows, a replica that has everything is not refused for its lag, as long as the hold lasts.
 * - `hold-ends`: once it is over, it is refused.
 * - `true-lag`: a replica with a longer true lag than the limit gets no yes, except while the hold lasts.
 */
export class Holds {
  #stood: Stood | null = null;
  #truth: TruePosition[] = [];
  #truthOf = "";
  /** Since when each node has had all that the last leader wrote, as seen with every round. */
  readonly #completeMs = new Map<string, number>();
  /** Since when each replica has not replayed all that it received. */
  readonly #stuckMs = new Map<string, number>();

  /** Takes that rolecall was restarted: it knows no positions. */
  restarted(): void {
    this.#stood = null;
  }

  /** What is wrong with a round of answers. */
  judge(scene: Scene, answers: readonly Said[]): readonly Violation[] {
    const nowMs = answers[0]?.askedMs;
    if (nowMs === undefined) return [];
    this.#stood = stoodLast(scene, answers, this.#stood);
    this.#noteTruth(scene, nowMs);
    return answers.flatMap((answer) => {
      const { node, check, path } = answer;
      const limit = parameterOf(check, "lag_time");
      if (node === null || limit === null || routeOf(check) !== "/replica") return [];
      const asked: Asked = { scene, answer, node, limitMs: Number(limit.replace("ms", "")) };
      return (
        [
          ["hold", this.#isHeld(asked)],
          ["hold-ends", this.#isOver(asked)],
          ["true-lag", this.#isWithin(asked)],
        ] as const
      ).flatMap(([rule, detail]) => (detail === null ? [] : [{ rule, node, detail: `${path}: ${detail}` }]));
    });
  }

  #noteTruth({ world }: Scene, nowMs: number): void {
    const leader = world.nodes.find(({ name }) => name === world.holding?.name);
    if (leader?.role === "primary") {
      const of = `${leader.name} ${leader.timeline} ${leader.branch}`;
      // After a crash the leader may be behind what it had written.
      if (of !== this.#truthOf || (this.#truth.at(-1)?.position ?? 0) > leader.flushed) this.#truth = [];
      this.#truthOf = of;
      this.#truth.push({ atMs: nowMs, position: leader.flushed });
      while ((this.#truth[0]?.atMs ?? nowMs) < nowMs - keptMs) this.#truth.shift();
    }
    const last = world.nodes.find(({ name }) => name === this.#stood?.node);
    for (const node of world.nodes) {
      noteSince(this.#stuckMs, node.name, node.role === "replica" && node.replayed < node.received, nowMs);
      const isComplete = last?.role === "primary" && sharesBranch(world, node, last) && hasAll(node, last);
      noteSince(this.#completeMs, node.name, isComplete, nowMs);
    }
  }

  #isHeld({ scene, answer, node }: Asked): string | null {
    const { evidence, profile, troubles } = scene;
    const { askedMs, word } = answer;
    const stood = this.#stood;
    if (stood === null || stood.node === node) return null;
    const slack = slackMs(scene, askedMs - 1_000, askedMs);
    const stated = evidence.newestSure(stood.node, "status", askedMs - slack, states);
    if (stated === undefined) return null;
    const sinceMs = stated.arrivedMs;
    const roundMs = profile.intervalMs + profile.timeoutMs;
    // Two loops after a promotion the whole cluster shows the new timeline.
    const establishedMs = sinceMs - 2 * profile.loopMs - profile.maxAgeMs;
    const { timelineSinceMs } = scene.world;
    const isEstablished =
      stood.sinceMs < establishedMs && (timelineSinceMs < establishedMs || timelineSinceMs > sinceMs);
    // On a timeline of which no leader has stated a position nothing can be compared.
    if (scene.world.node(node).timeline !== timelineOf(stated)) return null;
    const isSilent =
      sinceMs < askedMs - roundMs - slack && !evidence.since(stood.node, "status", sinceMs + 0.001).some(states);
    if (!isEstablished || !isSilent || !isHonest(scene, sinceMs - profile.confirmMs)) return null;
    if (scene.stalls.within(sinceMs - profile.maxAgeMs, askedMs) > 0) return null;
    if (claimsOfOthers(scene, stood.node, sinceMs - profile.maxAgeMs).some(states)) return null;
    // The hold ends where a new position appears: another replica may receive from a new leader that states none.
    if (isPassedByOther(scene, [stood.node, node], sinceMs)) return null;
    const views = viewsOfOthers(scene, [stood.node, node], sinceMs).filter((one) => namedLeader(one) === stood.node);
    // Before Patroni 4 the row of a replica that is cut off from the DCS does not tell how old it is.
    if (views.some((one) => isRowBehind(one, node) && rowOf(one, node)?.["lsn"] === undefined)) return null;
    const shown = views.filter((one) => evidence.isSure(one) && rowOf(one, node)?.["lag"] === 0);
    const untilMs = Math.max(sinceMs, shown.at(-1)?.arrivedMs ?? sinceMs) + limitOf(scene, "least") - profile.slackMs;
    if (askedMs >= untilMs) return null;
    const completeMs = this.#completeMs.get(node) ?? Infinity;
    const calmMs = sinceMs - 2 * roundMs;
    const isSound =
      completeMs < calmMs &&
      isListedBy(stated, node) &&
      troubles.isFree(node, calmMs - profile.loopMs, "status", "notReplica", "diverged");
    if (!isSound) return null;
    const isRefused = word?.reason === "lagging" || word?.reason === "lag_unknown";
    return held(
      scene,
      "hold",
      isRefused,
      () =>
        `${answer.phrase}, but it has all that ${stood.node} wrote, which stated a position ${ago(answer, sinceMs)}`,
    );
  }

  #isOver(asked: Asked): string | null {
    const { scene, answer, limitMs } = asked;
    const { evidence, profile, world } = scene;
    const { askedMs, status } = answer;
    const stood = this.#stood;
    if (stood === null || !isHonest(scene, askedMs - profile.confirmMs)) return null;
    const names = world.nodes
      .flatMap(({ name }) => [...evidence.since(name, "cluster", -Infinity)])
      .filter((one) => evidence.isPossible(one) && namedLeader(one) !== undefined)
      .sort((one, other) => one.arrivedMs - other.arrivedMs);
    // Where a view names nobody, nothing more is written.
    const newest = names.at(-1);
    if (newest !== undefined && namedLeader(newest) !== stood.node) return null;
    const overMs =
      lastNewsMs(scene, stood.node, asked.node) + limitOf(scene, "most") + limitMs + marginOf(scene, askedMs);
    if (askedMs < overMs) return null;
    return held(scene, "hold-ends", status === 200, () => {
      const sinceMs = lastNewsMs(scene, stood.node, asked.node);
      return `a yes, but nothing is known of ${stood.node} since ${ago(answer, sinceMs)}`;
    });
  }

  #isWithin(asked: Asked): string | null {
    const { scene, answer, node, limitMs } = asked;
    const { evidence, profile, world } = scene;
    const { askedMs, status } = answer;
    const replica = world.node(node);
    const stood = this.#stood;
    if (stood === null || replica.role === "primary" || hasDiverged(world, replica)) return null;
    const passed = this.#truth.find(({ position }) => position > replica.replayed);
    if (passed === undefined) return null;
    const trueMs = askedMs - passed.atMs;
    const marginMs = marginOf(scene, askedMs);
    if (trueMs < limitMs + marginMs || !isHonest(scene, passed.atMs - profile.confirmMs)) return null;
    const holder = world.holding?.name ?? "";
    const roundMs = profile.intervalMs + profile.timeoutMs;
    const known = evidence.newestSure(holder, "status", askedMs - profile.slackMs, states);
    const isAnswering =
      stood.node === holder &&
      askedMs - stood.sinceMs > limitMs + marginMs &&
      (known?.arrivedMs ?? -Infinity) > askedMs - roundMs &&
      scene.troubles.isFree(holder, askedMs - limitMs - marginMs, "status", "notPrimary");
    const isOver = askedMs > lastNewsMs(scene, stood.node, node) + limitOf(scene, "most") + limitMs + marginMs;
    // What it received and did not replay it knows, and what another replica received shows how far the leader was.
    const isStuck =
      (this.#stuckMs.get(node) ?? Infinity) < askedMs - 2 * roundMs &&
      scene.troubles.isFree(node, askedMs - 2 * roundMs, "status", "notReplica");
    if (!isAnswering && !isOver && !isStuck) return null;
    return held(
      scene,
      "true-lag",
      status === 200,
      () => `${holder} was past its replayed ${replica.replayed} at the latest ${ago(answer, passed.atMs)}`,
    );
  }
}

/** Whether another replica may have stated since an instant that it is past all that this one has received. */
function isPassedByOther(
  { evidence, world }: Scene,
  [leader, node]: readonly [string, string],
  fromMs: number,
): boolean {
  const { received } = world.node(node);
  return world.nodes
    .filter(({ name }) => name !== leader && name !== node)
    .flatMap(({ name }) => [...evidence.since(name, "status", fromMs)])
    .some((one) => evidence.isPossible(one) && (topOf(one) ?? -Infinity) > received);
}

/** Keeps since when a condition has held. */
function noteSince(since: Map<string, number>, node: string, holds: boolean, nowMs: number): void {
  if (!holds) since.delete(node);
  else if (!since.has(node)) since.set(node, nowMs);
}

/** Whether a replica has received and replayed all that a leader wrote, what its disk does not have included. */
function hasAll({ received, replayed, role }: ModelNode, { written }: ModelNode): boolean {
  return role === "replica" && received >= written && replayed >= received;
}
