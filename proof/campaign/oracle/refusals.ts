import type { Said } from "../rolecall/asker.ts";
import { namedLeader, type Served } from "../wire/served.ts";
import { firstClaim } from "./claims.ts";
import { ago, held, leaderRoute, routeOf, type Scene, slackMs, type Violation } from "./scene.ts";

/** The longest distance between two rounds of questions, in ms. */
const roundMs = 2_500;

/** A claim that rolecall surely refused beside another node because of a third node's view. */
interface Refused {
  readonly sinceMs: number;
  /** The nodes that stood meanwhile. */
  readonly beside: ReadonlySet<string>;
}

/**
 * The promise about a claim that was refused while another node stood, because a third node named somebody else (rule
 * 2): it gets no yes while such a view counts, although the other claim ends, and over restarts of rolecall.
 */
export class Refusals {
  readonly #marks = new Map<string, Refused>();
  /** The claims of the round before that were refused beside another one, and that one. */
  #before: ReadonlyMap<string, string> = new Map();
  #beforeMs = -Infinity;
  #restartMs = -Infinity;

  /** Takes that rolecall was restarted: it knows whom it has refused, and no view. */
  restarted(nowMs: number): void {
    this.#restartMs = nowMs;
    this.#before = new Map();
  }

  /** What is wrong with a round of answers. */
  judge(scene: Scene, answers: readonly Said[]): readonly Violation[] {
    const route = leaderRoute(scene);
    const asked = answers.filter(({ node, check }) => node !== null && routeOf(check) === route);
    const standing = asked.find(({ status }) => status === 200)?.node ?? null;
    const found: Violation[] = [];
    const refused = new Map<string, string>();
    for (const answer of asked) {
      const node = answer.node ?? "";
      const detail = this.#broken(scene, answer, node);
      if (detail !== null) found.push({ rule: "refused-claim", node, detail: `${answer.path}: ${detail}` });
      if (answer.word?.reason === "superseded" && standing !== null) refused.set(node, standing);
      if (standing !== null) this.#mark(scene, answer, { node, standing, isRefused: refused.has(node) });
    }
    this.#before = refused;
    this.#beforeMs = asked[0]?.askedMs ?? this.#beforeMs;
    return found;
  }

  #broken(scene: Scene, answer: Said, node: string): string | null {
    const mark = this.#marks.get(node);
    if (mark === undefined) return null;
    const view = this.#counting(scene, answer, { node, mark });
    const isBound = view !== null && !mayHaveEnded(scene, answer, { node, mark });
    if (!isBound || answer.status === 200) this.#marks.delete(node);
    if (!isBound) return null;
    const because = (): string =>
      view === "awaited"
        ? "no view is known yet"
        : `${view.node} names ${namedLeader(view)} ${ago(answer, view.arrivedMs)}`;
    const detail = (): string =>
      `refused beside ${[...mark.beside].join()} ${ago(answer, mark.sinceMs)}, and ${because()}`;
    return held(scene, "refused-claim", answer.status === 200, detail);
  }

  /** Marks a claim that was refused beside one node in two rounds, if a view of before them says so. */
  #mark(
    scene: Scene,
    { askedMs }: Said,
    { node, standing, isRefused }: { readonly node: string; readonly standing: string; readonly isRefused: boolean },
  ): void {
    const known = this.#marks.get(node);
    if (known !== undefined) {
      if (standing !== node) this.#marks.set(node, { ...known, beside: new Set([...known.beside, standing]) });
      return;
    }
    if (!isRefused || this.#before.get(node) !== standing || askedMs - this.#beforeMs > roundMs) return;
    const first = firstClaim(scene, node, this.#beforeMs);
    const sinceMs = first === undefined ? Infinity : first.arrivedMs + scene.profile.slackMs;
    const mark = { sinceMs: askedMs, beside: new Set([standing]) };
    const views = countingViews(scene, {
      node,
      mark,
      askedMs: this.#beforeMs - slackMs(scene, this.#beforeMs - 1_000, askedMs),
    });
    if (views.some((view) => view.arrivedMs > sinceMs && namedLeader(view) !== null)) this.#marks.set(node, mark);
  }

  /** A view that surely counts against a claim; `awaited` if none can be known yet; null without either. */
  #counting(scene: Scene, { askedMs }: Said, { node, mark }: Claimant): Served | "awaited" | null {
    const byMs = askedMs - slackMs(scene, askedMs - 1_000, askedMs);
    const { evidence, profile, troubles, world } = scene;
    const viewMs = 3 * profile.clusterMs + profile.timeoutMs;
    // After a stall what was surely known is from before it, and may be too old by now.
    const view = countingViews(scene, { node, mark, askedMs: byMs }).find(
      ({ arrivedMs }) => arrivedMs > askedMs - viewMs,
    );
    if (view !== undefined) return view;
    if (askedMs > this.#restartMs + viewMs - profile.slackMs) return null;
    const third = world.nodes.filter(({ name }) => name !== node && !mark.beside.has(name));
    const isAsked = third.some(({ name }) => evidence.since(name, "cluster", this.#restartMs).length > 0);
    const isAnswering = third.some(({ name }) => troubles.isFree(name, this.#restartMs, "status", "guest"));
    return isAnswering && !isAsked ? "awaited" : null;
  }
}

interface Claimant {
  readonly node: string;
  readonly mark: Refused;
}

/**
 * The views of third nodes that surely count against a claim at an instant and for one round more: they name somebody
 * else, who has not denied the lock since, and was heard within the time that a lock lasts; or they name nobody.
 */
function countingViews(
  scene: Scene,
  { node, mark, askedMs }: Claimant & { readonly askedMs: number },
): readonly Served[] {
  const { evidence, profile, troubles, world } = scene;
  const viewMs = 3 * profile.clusterMs + profile.timeoutMs;
  return world.nodes.flatMap(({ name }) => {
    if (name === node || mark.beside.has(name)) return [];
    const view = evidence.newestSure(name, "cluster", askedMs);
    if (view === undefined || view.arrivedMs < askedMs - viewMs + roundMs) return [];
    // A newer one may be known too.
    const views = evidence
      .since(name, "cluster", view.arrivedMs)
      .filter((one) => one === view || evidence.isPossible(one));
    if (!troubles.isFree(name, view.arrivedMs - profile.maxAgeMs, "guestEver", "moved")) return [];
    return views.every((one) => isAgainst(scene, one, node, askedMs)) ? [view] : [];
  });
}

function isAgainst({ evidence, profile }: Scene, view: Served, node: string, askedMs: number): boolean {
  const named = namedLeader(view);
  if (named === undefined || named === node || named === view.node) return false;
  if (named === null)
    return (["pause", "failsafe_mode_is_active"] as const).every(
      (flag) => !evidence.mayHaveFlagged(node, flag, -Infinity),
    );
  if (evidence.mayHaveDenied(named, view.arrivedMs - profile.timeoutMs - profile.slackMs)) return false;
  const heardMs = evidence.newestSure(named, "status", askedMs)?.arrivedMs ?? -Infinity;
  return askedMs < heardMs + profile.ttlMs + profile.loopMs - roundMs;
}

/**
 * Whether rolecall may have ended a mark since: a third node or the DCS named the claimant, or the claimant denied the
 * lock while another one stood.
 */
function mayHaveEnded(
  { evidence, namedUntilMs, profile, troubles, world }: Scene,
  { askedMs }: Said,
  { node, mark }: Claimant,
): boolean {
  const fromMs = mark.sinceMs - 3 * profile.clusterMs - profile.timeoutMs;
  if (!troubles.isFree(node, fromMs, "moved") || (namedUntilMs.get(node) ?? -Infinity) >= fromMs) return true;
  const others = world.nodes.map(({ name }) => name).filter((name) => name !== node);
  const isNamed = others.some((name) =>
    evidence.since(name, "cluster", fromMs).some((view) => namedLeader(view) === node && evidence.wasPossible(view)),
  );
  if (isNamed) return true;
  const aroundMs = profile.maxAgeMs + profile.timeoutMs + profile.slackMs;
  const denials = evidence
    .since(node, "status", mark.sinceMs - profile.timeoutMs)
    .filter((one) => one.status === 503 && evidence.wasPossible(one));
  return denials.some(({ arrivedMs }) =>
    others.some((name) =>
      evidence
        .since(name, "status", arrivedMs - aroundMs)
        .some(
          (one) =>
            one.status === 200 && evidence.wasPossible(one) && one.arrivedMs < Math.min(askedMs, arrivedMs + aroundMs),
        ),
    ),
  );
}
