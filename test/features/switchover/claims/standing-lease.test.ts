import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  isGranted,
  type LeaseHappening,
  type LeaseState,
  leaseMs,
  nextLease,
} from "../../../../src/features/switchover/claims/standing-lease.ts";

/** This process is `m`: `a` comes before it, `z` after it. */
const nowMs = 50_000;
const [a, z] = ["a", "z"].map((instance) => ({ instance, by: `core-${instance}` }));
assert.ok(a !== undefined && z !== undefined);

const states = {
  new: { kind: "new" },
  own: { kind: "own" },
  "own, holding": { kind: "own" },
  "a's": { kind: "theirs", holder: a, untilMs: nowMs + 1 },
  "a's, silent too long": { kind: "theirs", holder: a, untilMs: nowMs },
} as const satisfies Readonly<Record<string, LeaseState>>;

const happenings = {
  "nobody has it": { kind: "answers", heldBy: null },
  "z has it": { kind: "answers", heldBy: { ...z, leftMs: 1_500 } },
  "a asks": { kind: "asked", ask: { ...a, isOwn: false } },
  "a asks, has it": { kind: "asked", ask: { ...a, isOwn: true } },
  "z asks": { kind: "asked", ask: { ...z, isOwn: false } },
  "z asks, has it": { kind: "asked", ask: { ...z, isOwn: true } },
  "a gives it back": { kind: "given", instance: "a" },
  "z gives it back": { kind: "given", instance: "z" },
  tick: { kind: "tick" },
} as const satisfies Readonly<Record<string, LeaseHappening>>;

/** State × happening: who has it after that, and what is answered. `=`: as before. */
const rows: Readonly<Record<keyof typeof states, Readonly<Record<keyof typeof happenings, string>>>> = {
  new: {
    "nobody has it": "own",
    "z has it": "z's",
    "a asks": "a's, granted",
    "a asks, has it": "a's, granted",
    "z asks": "=, denied",
    "z asks, has it": "z's, granted",
    "a gives it back": "=",
    "z gives it back": "=",
    tick: "=",
  },
  own: {
    "nobody has it": "=",
    "z has it": "z's",
    "a asks": "=, denied",
    "a asks, has it": "a's, granted",
    "z asks": "=, denied",
    "z asks, has it": "=, denied",
    "a gives it back": "=",
    "z gives it back": "=",
    tick: "=",
  },
  "own, holding": {
    "nobody has it": "=",
    "z has it": "=",
    "a asks": "=, denied",
    "a asks, has it": "=, denied",
    "z asks": "=, denied",
    "z asks, has it": "=, denied",
    "a gives it back": "=",
    "z gives it back": "=",
    tick: "=",
  },
  "a's": {
    "nobody has it": "=",
    "z has it": "=",
    "a asks": "a's, granted",
    "a asks, has it": "a's, granted",
    "z asks": "=, denied",
    "z asks, has it": "=, denied",
    "a gives it back": "new",
    "z gives it back": "=",
    tick: "=",
  },
  "a's, silent too long": {
    "nobody has it": "own",
    "z has it": "z's",
    "a asks": "a's, granted",
    "a asks, has it": "a's, granted",
    "z asks": "new, denied",
    "z asks, has it": "z's, granted",
    "a gives it back": "new",
    "z gives it back": "new",
    tick: "new",
  },
};

describe("the right to hold clients after a loss, state × happening", () => {
  for (const [name, state] of Object.entries(states) as readonly [keyof typeof states, LeaseState][])
    test(name, () => {
      const context = { nowMs, instance: "m", isHolding: name === "own, holding" };
      const row = Object.entries(happenings).map(([what, happened]) => {
        const after = nextLease(state, happened, context);
        if (after.kind === "theirs" && after !== state)
          assert.equal(after.untilMs, nowMs + (what === "z has it" ? 1_500 : leaseMs));
        const who = after === state ? "=" : after.kind === "theirs" ? `${after.holder.instance}'s` : after.kind;
        const said =
          happened.kind === "asked" ? (isGranted(state, happened.ask, context) ? ", granted" : ", denied") : "";
        return [what, `${who}${said}`] as const;
      });
      assert.deepEqual(Object.fromEntries(row), rows[name]);
    });
});
