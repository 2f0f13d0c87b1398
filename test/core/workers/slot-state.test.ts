import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { parse } from "yaml";
import { nextSlot, type SlotEvent, type SlotState } from "../../../src/core/workers/slot-state.ts";

const table: Readonly<Record<string, Readonly<Record<SlotEvent<1>["kind"], string>>>> = parse(
  readFileSync("test/spec/workers/slot.yaml", "utf8"),
);

const events: readonly SlotEvent<1>[] = [
  { kind: "spawned", worker: 1 },
  { kind: "up" },
  { kind: "behind" },
  { kind: "exited" },
  { kind: "retire" },
  { kind: "stop" },
];

function nameOf(state: SlotState<1>): string {
  return state.phase === "stopped" && state.worker !== null ? "stopped+worker" : state.phase;
}

/** Every state that can be reached, by its name. */
function reachable(): ReadonlyMap<string, SlotState<1>> {
  const found = new Map<string, SlotState<1>>([["empty", { phase: "empty" }]]);
  for (const state of found.values())
    for (const event of events) {
      const { state: next } = nextSlot(state, event);
      found.set(nameOf(next), next);
    }
  return found;
}

describe("a place in the worker pool", () => {
  const states = reachable();

  test("has the states of the table, and no others", () => {
    assert.deepEqual([...states.keys()].toSorted(), Object.keys(table).toSorted());
  });

  for (const [name, state] of states)
    for (const event of events)
      test(`${name}, ${event.kind}: ${table[name]?.[event.kind]}`, () => {
        const { state: next, action } = nextSlot(state, event);
        assert.equal(`${nameOf(next)} ${action}`, table[name]?.[event.kind]);
      });
});
