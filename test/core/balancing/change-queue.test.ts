import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { ChangeQueue } from "../../../src/core/balancing/change-queue.ts";
import type { ServerChange } from "../../../src/core/balancing/server-change.ts";

const change: fc.Arbitrary<Omit<ServerChange, "atMs">> = fc.record({
  backend: fc.constantFrom("write", "read"),
  server: fc.constantFrom("pg1", "pg2", "pg3"),
  target: fc.constantFrom("up" as const, "down" as const, "drain" as const, null),
  weight: fc.constantFrom(null, 10, 100),
  cutsSessions: fc.boolean(),
});
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("add" as const), change }) },
  fc.record({ kind: fc.constant("apply" as const) }),
  fc.record({ kind: fc.constant("fail" as const), during: fc.array(change, { maxLength: 3 }) }),
);

/** A server that is fit while a failed change waits keeps its sessions, also if it is drained after that. */
const fitInBetween = [
  { kind: "add" as const, change: changeTo("down", true) },
  { kind: "fail" as const, during: [changeTo("up", false), changeTo("drain", false)] },
];

function changeTo(target: "up" | "down" | "drain", cutsSessions: boolean): Omit<ServerChange, "atMs"> {
  return { backend: "read", server: "pg2", target, weight: null, cutsSessions };
}

test("whatever fails in between, the newest change of each server is applied last, and the queue stays bounded", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const queue = new ChangeQueue();
      const wanted = new Map<string, { target: unknown; weight: unknown; cuts: boolean }>();
      const applied = new Map<string, { target: unknown; weight: unknown }>();
      const cuts: string[] = [];
      let atMs = 0;
      const add = (added: Omit<ServerChange, "atMs">): void => {
        const key = `${added.backend}/${added.server}`;
        const last = wanted.get(key) ?? { target: null, weight: null, cuts: false };
        queue.add({ ...added, atMs: (atMs += 1) });
        wanted.set(key, {
          target: added.target ?? last.target,
          weight: added.weight ?? last.weight,
          cuts: added.cutsSessions || (last.cuts && added.target !== "up"),
        });
      };
      const apply = (): void => {
        for (const { backend, server, target, weight, cutsSessions } of queue.takeAll()) {
          const key = `${backend}/${server}`;
          const last = applied.get(key);
          applied.set(key, { target: target ?? last?.target ?? null, weight: weight ?? last?.weight ?? null });
          if (cutsSessions) cuts.push(key);
          const open = wanted.get(key);
          assert.equal(cutsSessions, open?.cuts);
          if (open !== undefined) open.cuts = false;
        }
      };
      for (const next of steps) {
        if (next.kind === "add") add(next.change);
        else if (next.kind === "apply") apply();
        else {
          const taken = queue.takeAll();
          next.during.forEach(add);
          queue.putBack(taken);
        }
        assert.ok(queue.size <= 6);
      }
      apply();
      assert.equal(queue.size, 0);
      for (const [key, { target, weight }] of wanted) assert.deepEqual(applied.get(key), { target, weight });
    }),
    { examples: [[fitInBetween]] },
  );
});
