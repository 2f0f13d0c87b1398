/** That the promises of the model hold says something only if it is seen where they do not. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { writtenIntents } from "../../src/features/switchover/intent/pause-intent.ts";
import { advanceSwitchover } from "../../src/features/switchover/machine/advance.ts";
import type { SwitchoverTransition } from "../../src/features/switchover/machine/transition.ts";
import { twoLostTargets } from "./switchover-world.ts";
import { type Explored, explore, startsOf } from "./switchover-explore.ts";

/** Faults that are planted, and what is seen to break. */
const planted: readonly (readonly [title: string, fault: Partial<Explored>, seen: RegExp])[] = [
  [
    "all poolers are paused once one of them refuses its clients",
    {
      advance: (...step) => {
        const next = advanceSwitchover(...step);
        const isFirst = next.effects.some((effect) => effect.kind === "pause" && effect.target === 0);
        if (!isFirst || !("targets" in next.state)) return next;
        const targets = next.state.targets.map(() => "asked" as const);
        return { state: { ...next.state, targets }, effects: [...next.effects, { kind: "pause", target: 1 }] };
      },
    },
    /PAUSE of target 1, which may have a server/,
  ],
  [
    "clients are held 1 s longer than the limit",
    {
      advance: (plan, state, happened) => {
        const { limits } = plan;
        const longer = { ...plan, limits: { ...limits, deadlineMs: limits.deadlineMs + 1_000 } };
        return advanceSwitchover(longer, state, happened);
      },
    },
    /target \d is held longer than the limit|held \d+ ms after/,
  ],
  [
    "clients go on although no primary is accepted",
    {
      advance: (plan, state, happened): SwitchoverTransition => {
        const { event } = happened;
        const next = advanceSwitchover(plan, state, happened);
        if (event.kind !== "primary" || event.node !== null || next.state.kind !== "switching") return next;
        const { targets } = next.state;
        const held = [...targets.keys()].filter((target) => targets[target] === "confirmed");
        return {
          state: {
            ...next.state,
            targets: targets.map((phase) => (phase === "confirmed" ? "resuming" : phase)),
            repeatAtMs: happened.nowMs + plan.limits.resumeMs,
          },
          effects: [...next.effects, ...held.map((target) => ({ kind: "resume" as const, target }))],
        };
      },
    },
    /RESUME of target 0 onto no primary/,
  ],
  [
    "clients go on before their route leads to the new primary",
    {
      advance: (plan, ...rest) =>
        advanceSwitchover({ ...plan, targets: plan.targets.map((target) => ({ ...target, routes: [] })) }, ...rest),
    },
    /RESUME of target 0 onto pg2/,
  ],
  [
    "what the process that is gone may have paused gets no RESUME",
    {
      advance: (plan, state, happened): SwitchoverTransition => {
        const next = advanceSwitchover(plan, state, happened);
        if (!("targets" in state) || next.state.kind !== "resuming") return next;
        const isUnheld = (target: number): boolean => state.targets[target] === "unheld";
        const targets = next.state.targets.map((phase, at) => (isUnheld(at) ? "resumed" : phase));
        const effects = next.effects.map((effect) =>
          effect.kind === "resume" && isUnheld(effect.target)
            ? { kind: "close" as const, target: effect.target }
            : effect,
        );
        return { state: { ...next.state, targets }, effects };
      },
    },
    /the intent of target 0 is closed while it may be paused/,
  ],
  [
    "the process that goes on pauses at the first look",
    {
      advance: (plan, state, happened): SwitchoverTransition => {
        const { event } = happened;
        const isFirst = "targets" in state && state.targets[0] === "unheld" && event.kind === "echo";
        return advanceSwitchover(
          plan,
          state,
          isFirst ? { ...happened, event: { kind: "unserved", target: 0 } } : happened,
        );
      },
    },
    /PAUSE of target 0, which may have a server/,
  ],
  [
    "the old value of server_login_retry is not written down",
    { write: (written) => writtenIntents({ ...written, lowered: [] }) },
    /server_login_retry of target 0 is lowered, and nobody knows its old value/,
  ],
];

const beginnings = new Set(["the third look", "a hold", "the death of the process before it held anybody"]);

describe("a fault that is planted is seen", () => {
  for (const [title, fault, seen] of planted)
    test(title, () => {
      const starts = startsOf(twoLostTargets).filter(({ name }) => beginnings.has(name));
      const of = { advance: advanceSwitchover, write: writtenIntents, ...fault };
      const problems = starts.map(({ first, isAdopted = false }) => {
        try {
          return explore(twoLostTargets, { first, isAdopted, depth: 2 }, of).violation?.problem ?? "none";
        } catch (error) {
          return String(error);
        }
      });
      assert.match(problems.join("\n"), seen);
    });
});
