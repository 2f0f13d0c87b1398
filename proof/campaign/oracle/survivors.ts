import type { Said } from "../rolecall/asker.ts";
import { documentOf, namedLeader, type Served } from "../wire/served.ts";
import { isServing } from "../world/node.ts";
import { listedAt } from "../world/wal.ts";
import { ago, held, leaderRoute, routeOf, type Scene, slackMs, type Violation } from "./scene.ts";
import { stoodLast, type Stood } from "./standing.ts";

/**
 * The promises about a primary whose API does not answer (guard `survive`). Its exporter and its lock may be fine.
 *
 * - `survive`: it keeps its yes while its exporter shows a working primary with a streaming standby, and a fresh view
 *   of another node names it, up to the configured time from its last answer; over a restart of rolecall too.
 * - `survive-ends`: it has none after that time, without such a view, or after another claim stood.
 */
export class Survivors {
  #stood: Stood | null = null;
  /** Since when the database and the exporter of each node have worked, with a standby that streams. */
  readonly #soundMs = new Map<string, number>();
  #restartMs = -Infinity;

  /** Takes that rolecall was restarted: it knows who stood last. */
  restarted(nowMs: number): void {
    this.#restartMs = nowMs;
  }

  /** What is wrong with a round of answers. */
  judge(scene: Scene, answers: readonly Said[]): readonly Violation[] {
    const nowMs = answers[0]?.askedMs;
    if (scene.surviveMs === 0 || nowMs === undefined) return [];
    this.#noteSound(scene, nowMs);
    const route = leaderRoute(scene);
    const before = this.#stood;
    const found = answers.flatMap((answer) => {
      const { node, check, path } = answer;
      if (node === null || routeOf(check) !== route) return [];
      return (
        [
          ["survive", this.#keeps(scene, answer, { node, before })],
          ["survive-ends", this.#ends(scene, answer, { node, before })],
        ] as const
      ).flatMap(([rule, detail]) => (detail === null ? [] : [{ rule, node, detail: `${path}: ${detail}` }]));
    });
    this.#stood = stoodLast(scene, answers, before);
    return found;
  }

  #noteSound({ world, seats, troubles }: Scene, nowMs: number): void {
    for (const { node, guest, mask } of seats) {
      const isSound =
        guest === null &&
        !mask.isUnreachable &&
        node.role === "primary" &&
        node.state === "running" &&
        isServing(node) &&
        listedAt(world, node, nowMs).length > 0 &&
        troubles.isFree(node.name, nowMs - 2_000, "guestEver", "moved");
      if (!isSound) this.#soundMs.delete(node.name);
      else if (!this.#soundMs.has(node.name)) this.#soundMs.set(node.name, nowMs);
    }
  }

  #keeps(scene: Scene, answer: Said, { node, before }: Case): string | null {
    const { evidence, profile, surviveMs, stalls } = scene;
    const { askedMs, status } = answer;
    if (before?.node !== node || before.lastMs - before.sinceMs < profile.intervalMs * 2) return null;
    const slack = slackMs(scene, askedMs - 1_000, askedMs);
    const last = evidence.since(node, "status", -Infinity).findLast((one) => evidence.wasSure(one));
    if (last === undefined || !isClaim(last)) return null;
    const sinceMs = last.arrivedMs;
    // While it may answer, other promises apply.
    if (askedMs < sinceMs + profile.maxAgeMs || askedMs > sinceMs + surviveMs - slack) return null;
    const isCertain =
      evidence.since(node, "status", sinceMs + 0.001).every((one) => !evidence.wasPossible(one)) &&
      stalls.within(sinceMs - profile.maxAgeMs, askedMs) === 0 &&
      isUndisputed(scene, node, sinceMs - profile.maxAgeMs);
    // The exporter is heard every cluster interval, and twice after a start.
    const heardMs =
      Math.max(this.#soundMs.get(node) ?? Infinity, this.#restartMs) + 2 * profile.clusterMs + profile.timeoutMs;
    if (!isCertain || heardMs > askedMs) return null;
    const views = viewsSince(scene, node, sinceMs);
    if (views.some((view) => namedLeader(view) !== node)) return null;
    const viewMs = 3 * profile.clusterMs + profile.timeoutMs;
    const confirming = views.findLast((view) => evidence.isSure(view) && (view.doneMs ?? Infinity) < askedMs - slack);
    if (confirming === undefined || confirming.arrivedMs < askedMs - viewMs + slack) return null;
    if (!scene.troubles.isFree(confirming.node, confirming.arrivedMs - profile.maxAgeMs, "status")) return null;
    return held(scene, "survive", status !== 200, () => `${answer.phrase}, but ${confirming.node} names it`);
  }

  #ends(scene: Scene, { askedMs, status }: Said, { node, before }: Case): string | null {
    if (status !== 200 && before?.node === node) return null;
    const { evidence, profile, surviveMs } = scene;
    const slack = slackMs(scene, askedMs - profile.maxAgeMs, askedMs);
    const answered = evidence.since(node, "status", -Infinity).findLast((one) => evidence.wasPossible(one));
    const answeredMs = answered?.arrivedMs ?? -Infinity;
    const sureMs = Math.max(profile.maxAgeMs, profile.ttlMs - profile.loopMs - profile.retryMs);
    if (answered === undefined || askedMs < answeredMs + profile.maxAgeMs + slack) return null;
    const stoodAfter =
      before !== null && before.node !== node && before.lastMs > (answered.doneMs ?? answeredMs) + profile.timeoutMs;
    const viewMs = 3 * profile.clusterMs + profile.timeoutMs;
    const views = viewsSince(scene, node, Math.max(answeredMs - profile.timeoutMs, askedMs - viewMs - slack));
    const isConfirmed = views.some((view) => namedLeader(view) === node);
    const isLate = askedMs > answeredMs + surviveMs + slack || (askedMs > answeredMs + sureMs + slack && !isConfirmed);
    if (!stoodAfter && !isLate) return null;
    return held(
      scene,
      "survive-ends",
      status === 200,
      () =>
        `a yes, but ${stoodAfter ? `${before.node} stood since` : "nothing confirms it"}; it answered ${ago({ askedMs }, answeredMs)}`,
    );
  }
}

interface Case {
  readonly node: string;
  /** Who stood before this round. */
  readonly before: Stood | null;
}

function isClaim(served: Served): boolean {
  const document = documentOf(served);
  const isPrimary = document?.["role"] === "primary" || document?.["role"] === "master";
  return served.status === 200 && isPrimary && document["state"] === "running";
}

/** Whether no other node may have claimed the lock since an instant, nor any have lied. */
function isUndisputed({ evidence, replacedMs, troubles, world }: Scene, node: string, fromMs: number): boolean {
  return world.nodes.every(
    ({ name }) =>
      troubles.isFree(name, fromMs, "claim", "view", "guest", "guestEver", "moved") &&
      (name === node || evidence.since(name, "status", fromMs).every(({ status }) => status !== 200)) &&
      !replacedMs.has(node),
  );
}

/** The views of other nodes that rolecall may have had since an instant, oldest first. */
function viewsSince({ evidence, world }: Scene, node: string, fromMs: number): readonly Served[] {
  return world.nodes
    .filter(({ name }) => name !== node)
    .flatMap(({ name }) => [...evidence.since(name, "cluster", fromMs)])
    .filter((one) => evidence.isPossible(one) && namedLeader(one) !== undefined)
    .sort((one, other) => one.arrivedMs - other.arrivedMs);
}
