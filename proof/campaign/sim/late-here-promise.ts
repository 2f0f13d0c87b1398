import { countHeld, type Scene, type Violation } from "../oracle/scene.ts";
import { pushedChecks } from "./agreement.ts";
import type { Subject } from "./subject.ts";

/** For how long after rolecall goes on its evidence may still be old, in ms. */
const catchUpMs = 6_000;

/** A server that was up when rolecall became late. */
interface Up {
  readonly node: string;
  readonly check: string;
}

/**
 * The promise about rolecall's own lateness (rule 16): while its process stands still, or gets too little of a processor
 * to ask nodes in time, and until it has caught up, no pushed server goes down if nothing is wrong with any node. The
 * evidence ages, but nothing speaks against the nodes.
 */
export class LateHerePromise {
  #late: { readonly sinceMs: number; readonly untilMs: number; readonly up: readonly Up[] } | null = null;

  /** Takes that rolecall's process is late from now on for a time in ms. */
  begins(
    scene: Scene,
    subject: Pick<Subject, "pushed">,
    { nowMs, forMs }: { readonly nowMs: number; readonly forMs: number },
  ): void {
    const untilMs = nowMs + forMs + catchUpMs;
    if (this.#late !== null && nowMs < this.#late.untilMs) {
      this.#late = { ...this.#late, untilMs: Math.max(untilMs, this.#late.untilMs) };
      return;
    }
    const up = scene.world.nodes.flatMap(({ name: node }) =>
      pushedChecks.flatMap((check) => (subject.pushed(node, check)?.isFit === true ? [{ node, check }] : [])),
    );
    this.#late = { sinceMs: nowMs, untilMs, up };
  }

  /** Takes that rolecall was stopped. */
  stopped(): void {
    this.#late = null;
  }

  /** What is wrong at an instant. */
  judge(scene: Scene, subject: Pick<Subject, "pushed">, nowMs: number): readonly Violation[] {
    const late = this.#late;
    if (late === null) return [];
    if (nowMs > late.untilMs || !isCalm(scene, late.sinceMs)) {
      this.#late = null;
      return [];
    }
    return late.up.flatMap(({ node, check }) => {
      const { profile, troubles } = scene;
      const fromMs = late.sinceMs - profile.maxAgeMs - profile.timeoutMs;
      const isSound =
        check === "/primary"
          ? troubles.isFree(node, fromMs, "notPrimary")
          : troubles.isFree(node, fromMs - profile.attachMs, "notReplica", "detached", "diverged");
      if (!isSound) return [];
      countHeld(scene.armed, "late-here");
      if (subject.pushed(node, check)?.isFit !== false) return [];
      const detail = `${check}: pushed down, though only rolecall has been late since ${Math.round(nowMs - late.sinceMs)} ms`;
      return [{ rule: "late-here", node, detail }];
    });
  }
}

/** Whether nothing has been wrong with any node since some time before an instant. */
function isCalm({ profile, troubles, world }: Scene, sinceMs: number): boolean {
  const fromMs = sinceMs - 2 * profile.confirmMs;
  if (troubles.changedMs > fromMs || world.dcs.isDown || world.dcs.isPaused) return false;
  return world.nodes.every(({ name }) =>
    troubles.isFree(name, fromMs, "status", "refused", "cluster", "claim", "view", "guest", "guestEver", "moved"),
  );
}
