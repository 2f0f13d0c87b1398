import type { Said } from "../rolecall/asker.ts";
import { Attachment } from "./attachment.ts";
import { disputeIsTrue, falseClaimIsRefused, holderIsFit, lostClaimIsRefused, strayIsTrue } from "./claims.ts";
import { isConsistent, twoPrimaries } from "./consistency.ts";
import { divergedIsRefused } from "./divergence.ts";
import { forkedIsRefused } from "./forks.ts";
import { addressIsKept, silenceIsTrue, yesAgrees, yesIsFresh } from "./freshness.ts";
import { Marks } from "./marks.ts";
import { Holds } from "./hold.ts";
import { isProbedInTime } from "./probing.ts";
import { writesAreRead } from "./read-your-writes.ts";
import { lastLeaderIsRefused } from "./repeated-timelines.ts";
import { Refusals } from "./refusals.ts";
import { accusationIsTrue, lagIsKept, timeLagIsKept } from "./replicas.ts";
import { Survivors } from "./survivors.ts";
import { returnIsNoLag } from "./returns.ts";
import { routeOf, type Rule, type Scene, type Violation } from "./scene.ts";
import { aheadOfIdleIsRefused, setBackIsRefused } from "./set-backs.ts";
import { soleClaimStands } from "./sole-claim.ts";
import { standbyHasNoPrimary } from "./standby.ts";
import { synchronyIsTrue } from "./synchrony.ts";

type Rules = Readonly<Record<string, Rule>>;

/** The promises about answers to every route, by name. */
const everyRoute: Rules = {
  consistent: isConsistent,
  "yes-fresh": yesIsFresh,
  "yes-agrees": yesAgrees,
  silence: silenceIsTrue,
  moved: addressIsKept,
  dispute: disputeIsTrue,
  stray: strayIsTrue,
};

/** The promises about `/primary` and `/standby-leader`. */
const leaderRoutes: Rules = {
  probed: isProbedInTime,
  "lost-claim": lostClaimIsRefused,
  "false-claim": falseClaimIsRefused,
  "sole-claim": soleClaimStands,
  "holder-fit": holderIsFit,
  standby: standbyHasNoPrimary,
};

/** The promises about `/replica`, with and without limits. */
const replicaRoutes: Rules = {
  accusation: accusationIsTrue,
  diverged: divergedIsRefused,
  forked: forkedIsRefused,
  "set-back": setBackIsRefused,
  "ahead-of-idle": aheadOfIdleIsRefused,
  returned: returnIsNoLag,
  "last-leader": lastLeaderIsRefused,
  lag: lagIsKept,
  "lag-time": timeLagIsKept,
  "min-lsn": writesAreRead,
};

/** The promises about the routes that depend on synchronous replication: all others that a campaign requests. */
const synchronyRoutes: Rules = { synchrony: synchronyIsTrue };

/** The promises about the answers to one route. */
const rulesByRoute = new Map<string, readonly (readonly [string, Rule])[]>();

function rulesOf(route: string): readonly (readonly [string, Rule])[] {
  let rules = rulesByRoute.get(route);
  if (rules === undefined) {
    rules = Object.entries({ ...everyRoute, ...groupOf(route) });
    rulesByRoute.set(route, rules);
  }
  return rules;
}

function groupOf(route: string): Rules {
  if (route === "/primary" || route === "/standby-leader") return leaderRoutes;
  return route === "/replica" ? replicaRoutes : synchronyRoutes;
}

/**
 * Judges rolecall's answers about one cluster, from the truth and from what nodes answered. It knows nothing of
 * rolecall's code.
 */
export class Oracle {
  readonly #attachment = new Attachment();
  readonly #marks = new Marks();
  readonly #holds = new Holds();
  readonly #refusals = new Refusals();
  readonly #survivors = new Survivors();

  /** Looks at what was served since the last call. To be called with every round of questions. */
  feed(scene: Scene, nowMs: number): void {
    this.#attachment.feed(scene, nowMs);
  }

  /** Takes that rolecall was restarted. */
  restarted(nowMs: number): void {
    this.#attachment.restarted();
    this.#holds.restarted();
    this.#refusals.restarted(nowMs);
    this.#survivors.restarted(nowMs);
  }

  /** All promises that a round of answers breaks. */
  judge(scene: Scene, answers: readonly Said[]): readonly Violation[] {
    const found: Violation[] = [this.#holds, this.#refusals, this.#survivors].flatMap((promises) => [
      ...promises.judge(scene, answers),
    ]);
    for (const answer of answers) {
      // Where rolecall follows a clone in a node's place, one promise reports it. The others have no evidence.
      const isMoved = answer.node !== null && !scene.troubles.isFree(answer.node, answer.askedMs - 5_000, "moved");
      for (const [rule, holds] of rulesOf(routeOf(answer.check))) {
        if (isMoved && rule !== "moved" && rule !== "consistent") continue;
        const detail = holds(scene, answer);
        if (detail !== null)
          found.push({ rule, node: answer.node, detail: `${answer.method} ${answer.path}: ${detail}` });
      }
      const still = isMoved ? null : this.#attachment.broken(scene, answer);
      if (still !== null) found.push({ rule: "attached", node: answer.node, detail: `${answer.path}: ${still}` });
      const unmarked = isMoved ? null : this.#marks.broken(scene, answer);
      if (unmarked !== null)
        found.push({ rule: "mark-stays", node: answer.node, detail: `${answer.path}: ${unmarked}` });
    }
    const two = twoPrimaries(answers);
    if (two !== null) found.push({ rule: "one-primary", node: null, detail: two });
    return found;
  }
}
