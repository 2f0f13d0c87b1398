import assert from "node:assert/strict";
import { test } from "node:test";
import type { PreparedInWorker } from "../../../src/core/workers/messages.ts";
import { prepareInForce } from "../../../src/core/workers/prepare-slots.ts";
import { WorkerError } from "../../../src/core/workers/worker-process.ts";
import { listenerOf } from "../../fake/config.ts";

const listener = listenerOf({});
const taken = { listener, code: "EADDRINUSE", syscall: "listen", message: "listen EADDRINUSE" };

interface Case {
  readonly title: string;
  readonly answer: () => PreparedInWorker;
  readonly isInForce: boolean;
  /** What it returns or throws, and the sockets that the worker has then. */
  readonly result: boolean | RegExp;
  readonly keys: readonly string[];
}

const cases: readonly Case[] = [
  { title: "opened", answer: () => ({ listeners: [] }), isInForce: true, result: true, keys: ["old", "new"] },
  { title: "opened too late", answer: () => ({ listeners: [] }), isInForce: false, result: false, keys: ["old"] },
  {
    title: "not opened",
    answer: () => ({ problem: taken }),
    isInForce: true,
    result: /EADDRINUSE/,
    keys: ["old", "new"],
  },
  {
    title: "not opened, and not wanted",
    answer: () => ({ problem: taken }),
    isInForce: false,
    result: false,
    keys: ["old"],
  },
  {
    title: "a worker that ended",
    answer: () => {
      throw new WorkerError("open listeners", "SIGKILL");
    },
    isInForce: false,
    result: /SIGKILL/,
    keys: ["old", "new"],
  },
];

for (const { title, answer, isInForce, result, keys } of cases)
  test(`the listeners of a worker that starts: ${title}`, async () => {
    const slot = { keys: new Set(["old"]), process: { send: () => {}, prepare: async () => answer() } };
    const sockets = { sendTo: () => void slot.keys.add("new") };
    const prepared = prepareInForce(slot, sockets, {
      configs: [listener],
      fullState: null,
      isInForce: () => isInForce,
    });
    if (typeof result === "boolean") assert.equal(await prepared, result);
    else await assert.rejects(prepared, result);
    assert.deepEqual([...slot.keys], keys);
  });
