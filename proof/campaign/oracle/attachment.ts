import type { Said } from "../rolecall/asker.ts";
import type { Served } from "../wire/served.ts";
import { failingMs } from "./freshness.ts";
import { isListedBy, timelineOf, topOf } from "./reports.ts";
import { held, modelStepMs, routeOf, type Scene, slackMs } from "./scene.ts";

interface Track {
  /** When the last request was received, whatever became of it. */
  lastMs: number;
  /** When the last request was received whose answer certainly counted, and stated a position. */
  reportMs: number;
  top: number | null;
  /** The positioned time without a sign while nobody listed it, and while it was listed: each has its own window. */
  silentMs: number;
  listedMs: number;
  /** An upper bound of the time without a sign, since a list last showed it. */
  unlistedMs: number;
  holder: string;
  isAccused: boolean;
}

/**
 * A lower bound of positioned time without a sign of attachment, per replica (rule 5).
 * Only what rolecall certainly knew counts. Anything it may have taken for a sign restarts the count.
 * A receiver that is merely listed counts apart: it is `stalled`. Being listed is a sign against `detached`.
 */
export class Attachment {
  readonly #tracks = new Map<string, Track>();

  /** Reads what has been served since the last call. */
  feed(scene: Scene, nowMs: number): void {
    const byMs = nowMs - scene.profile.timeoutMs - scene.profile.slackMs;
    for (const { name } of scene.world.nodes) this.#feedNode(scene, name, byMs);
  }

  /** Takes that rolecall was restarted: it keeps whom it has refused, and counts the time of all others anew. */
  restarted(): void {
    for (const track of this.#tracks.values()) if (!track.isAccused) restart(track);
  }

  /** The promise that a replica without a sign is refused, and stays so until there is one. */
  broken(scene: Scene, { node, status, check, askedMs }: Said): string | null {
    const track = node === null ? undefined : this.#tracks.get(node);
    if (track === undefined || routeOf(check) !== "/replica") return null;
    const { attachMs } = scene.profile;
    if (stillMs(track) < boundMs(scene) + slackMs(scene, askedMs - attachMs * 2, askedMs) && !track.isAccused)
      return null;
    // What has come since may be the sign.
    if (this.#mayHaveSign(scene, node ?? "", track, askedMs)) return null;
    track.isAccused = true;
    return held(
      scene,
      "attached",
      status === 200,
      () =>
        `no sign of attachment at ${track.top} for ${Math.round(stillMs(track))} ms of positioned time ` +
        `(window ${attachMs} ms)`,
    );
  }

  #feedNode(scene: Scene, node: string, byMs: number): void {
    const { evidence, profile } = scene;
    const track = this.#tracks.get(node) ?? newTrack();
    this.#tracks.set(node, track);
    for (const served of evidence.since(node, "status", track.lastMs + 0.001)) {
      if (served.arrivedMs > byMs) break;
      const top = topOf(served);
      const isSign =
        (top !== null && track.top !== null && top > track.top) ||
        served.status === 200 ||
        this.#hasReached(scene, node, top, served.arrivedMs);
      const holder = holderOf(scene, served.arrivedMs);
      if ((isSign && evidence.isPossible(served)) || mayListClone(scene, track.lastMs)) restart(track);
      if ((holder === null || holder !== track.holder) && !track.isAccused) restart(track);
      track.holder = holder ?? track.holder;
      const gapMs = served.arrivedMs - track.lastMs;
      const isReport = top !== null && evidence.isSure(served);
      // rolecall counts between two reports. Of these, only the part after the last request is certain.
      const isCounted = !isSign && isReport && served.arrivedMs - track.reportMs < profile.maxAgeMs && holder !== null;
      // rolecall counts the time when the report comes.
      const countedMs = (served.doneMs ?? Infinity) + profile.slackMs;
      const isPositionedGap = isCounted && isPositioned(scene, holder ?? "", track.lastMs, countedMs);
      track.unlistedMs += gapMs;
      const listing = listingOf(scene, [node], { fromMs: track.lastMs, toMs: served.arrivedMs });
      if (listing !== "unlisted") {
        // Being listed ends `detached`, not `stalled`. A detached node has only just reconnected: its count begins anew.
        if (track.unlistedMs > profile.attachMs - profile.intervalMs && !track.isAccused) track.listedMs = 0;
        track.silentMs = 0;
        track.unlistedMs = 0;
        track.isAccused &&= track.listedMs >= boundMs(scene);
      } else if (isPositionedGap) track.silentMs += gapMs;
      if (listing === "listed" && isPositionedGap) track.listedMs += gapMs;
      if (top !== null && evidence.isPossible(served)) track.top = top;
      if (isReport) track.reportMs = served.arrivedMs;
      track.lastMs = served.arrivedMs;
    }
    if (stillMs(track) > boundMs(scene) + profile.intervalMs + profile.slackMs) track.isAccused = true;
  }

  /** Whether a position may have reached the leader's, as rolecall knew it then. */
  #hasReached(scene: Scene, node: string, top: number | null, atMs: number): boolean {
    if (top === null) return false;
    const { evidence, profile, world } = scene;
    const earliestMs = atMs - profile.maxAgeMs - profile.timeoutMs;
    const [holder] = holderOf(scene, atMs)?.split("@") ?? [];
    return world.nodes
      .filter(({ name }) => name !== node)
      .flatMap(({ name }) => {
        // Of the holder only the newest report counts, and what may have come after it.
        const known = name === holder ? evidence.newestSure(name, "status", atMs - profile.slackMs) : undefined;
        return [...evidence.since(name, "status", Math.max(earliestMs, known?.arrivedMs ?? -Infinity))];
      })
      .some((served) => served.status === 200 && (topOf(served) ?? Infinity) <= top);
  }

  #mayHaveSign(scene: Scene, node: string, track: Track, atMs: number): boolean {
    const later = scene.evidence.since(node, "status", track.lastMs - 0.001);
    if (later.some((served) => served.status === 200 || (topOf(served) ?? -1) > (track.top ?? Infinity))) return true;
    if (later.some((served) => this.#hasReached(scene, node, topOf(served), served.arrivedMs))) return true;
    if (mayListClone(scene, track.lastMs)) return true;
    if (
      track.listedMs < boundMs(scene) &&
      listingOf(scene, [node], { fromMs: track.lastMs, toMs: atMs }) !== "unlisted"
    )
      return true;
    // It streams again in truth. A sender may list it again, which clears `detached` before its own report does.
    return scene.troubles.last(node, "detached") < atMs - modelStepMs;
  }
}

/** Whether a clone at a node's address may have listed its own replica of the same name since an instant. */
function mayListClone({ troubles, world }: Scene, sinceMs: number): boolean {
  return world.nodes.some(({ name }) => !troubles.isFree(name, sinceMs - modelStepMs, "guestEver"));
}

/** The positioned time after which a replica without a sign is refused, and an interval in reserve, in ms. */
function boundMs({ profile }: Scene): number {
  return profile.attachMs + profile.intervalMs;
}

function newTrack(): Track {
  return {
    lastMs: -Infinity,
    reportMs: -Infinity,
    top: null,
    silentMs: 0,
    listedMs: 0,
    unlistedMs: 0,
    holder: "",
    isAccused: false,
  };
}

function stillMs({ silentMs, listedMs }: Track): number {
  return Math.max(silentMs, listedMs);
}

interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/**
 * Whether all lists of a node that may have counted between two instants show another one, or no list does. The list of
 * a replica counts only while it is listed itself, and not diverged.
 * @param chain the node, and what receives WAL through it
 */
function listingOf(scene: Scene, chain: readonly [string, ...string[]], span: Span): "listed" | "unlisted" | "mixed" {
  const { evidence, profile, troubles, world } = scene;
  const [node] = chain;
  const { fromMs, toMs } = span;
  const earliestMs = fromMs - profile.maxAgeMs - profile.timeoutMs;
  const lists = world.nodes
    .filter(({ name }) => !chain.includes(name))
    .map(({ name }) => {
      const firstMs = evidence.newestSure(name, "status", fromMs)?.arrivedMs ?? earliestMs;
      const answers = evidence.since(name, "status", Math.max(firstMs, earliestMs));
      return {
        sender: name,
        answers: answers.filter((served) => served.arrivedMs <= toMs && evidence.isPossible(served)),
      };
    });
  if (!lists.some(({ answers }) => answers.some((served) => isListedBy(served, node)))) return "unlisted";
  const isListed = lists.some(
    ({ sender, answers }) =>
      answers.length > 0 &&
      answers.every((served) => isListedBy(served, node)) &&
      (answers.every(({ status }) => status === 200) ||
        (troubles.isFree(sender, fromMs - 2 * profile.confirmMs, "diverged") &&
          listingOf(scene, [sender, ...chain], span) === "listed")),
  );
  return isListed ? "listed" : "mixed";
}

function restart(track: Track): void {
  track.silentMs = 0;
  track.listedMs = 0;
  track.unlistedMs = 0;
  track.isAccused = false;
}

/** The true holder, where no node has lied about it recently, and rolecall surely knew its timeline; null otherwise. */
function holderOf({ world, troubles, seats, profile, evidence }: Scene, atMs: number): string | null {
  const { holding } = world;
  // A standby cluster that is promoted has the same holder on a new timeline.
  if (holding === null || atMs < Math.max(holding.sinceMs, world.timelineSinceMs)) return null;
  const isCalm = seats.every(({ node: { name } }) =>
    troubles.isFree(name, atMs - profile.confirmMs, "claim", "view", "guest"),
  );
  if (!isCalm) return null;
  // A leader may omit its new timeline. rolecall restarts its counts when the leader states it at last.
  const known = evidence.newestSure(holding.name, "status", atMs - profile.slackMs, statesTimeline);
  return timelineOf(known) === world.timeline ? `${holding.name}@${world.timeline}` : null;
}

/**
 * Whether, between two instants, every report of the holder that may have counted was fresh and stated a position. A
 * holder that fails may be `down`, and a node that is down holds nothing (rules 2 and 8), before its report is too old.
 */
function isPositioned({ evidence, profile, troubles }: Scene, holder: string, fromMs: number, toMs: number): boolean {
  const [name = ""] = holder.split("@");
  const first = evidence.newestSure(name, "status", fromMs);
  if (first === undefined || first.arrivedMs < toMs - profile.maxAgeMs + profile.slackMs) return false;
  const mayFail =
    !troubles.isFree(name, first.arrivedMs, "refused") ||
    evidence
      .since(name, "status", first.arrivedMs)
      .some((served) => served.arrivedMs < toMs && !evidence.isSure(served));
  if (mayFail && first.arrivedMs < toMs - failingMs(profile) + profile.slackMs) return false;
  const answers = evidence.since(name, "status", first.arrivedMs).filter(({ arrivedMs }) => arrivedMs <= toMs);
  return answers.filter((served) => evidence.isPossible(served)).every(hasLocation);
}

function statesTimeline(served: Served): boolean {
  return served.status === 200 && typeof timelineOf(served) === "number";
}

function hasLocation(served: Served): boolean {
  return served.status === 200 && topOf(served) !== null;
}
