import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { test, type TestContext } from "node:test";
import { pino } from "pino";
import { ListenError } from "../../../src/core/http/listener/listen-error.ts";
import { prepareSlots } from "../../../src/core/workers/prepare-slots.ts";
import { SharedSockets } from "../../../src/core/workers/shared-sockets.ts";
import { WorkerError } from "../../../src/core/workers/worker-process.ts";
import { WorkerSlot } from "../../../src/core/workers/worker-slot.ts";
import { listenerOf } from "../../fake/config.ts";
import { freePort } from "../../fake/free-port.ts";
import { until } from "../../fake/until.ts";

const limit = { timeout: 60_000 };

interface Pool {
  readonly slots: readonly WorkerSlot[];
  readonly sockets: SharedSockets;
  /** What was logged. */
  readonly log: () => string;
}

/** Workers that are ready, and have no listeners. */
async function poolOf(context: TestContext, count: number): Promise<Pool> {
  const sockets = new SharedSockets(() => undefined);
  const lines = new PassThrough();
  let log = "";
  lines.on("data", (line: Buffer) => (log += line.toString()));
  const slots = Array.from(
    { length: count },
    (_, number) =>
      new WorkerSlot(number, {
        log: pino({ base: null }, lines),
        bringUp: async () => {},
        onMessage: (_slot, message, socket) => {
          if (message.kind === "opened") sockets.add(message.key, socket);
        },
        onLost: () => {},
        onLeft: () => {},
        onReadiness: () => {},
      }),
  );
  context.after(async () => {
    await Promise.all(slots.map((slot) => slot.stop()));
    sockets.retain(new Set());
  });
  await Promise.all(slots.map((slot) => slot.spawn()));
  return { slots, sockets, log: () => log };
}

/** Stops the process of a worker. @returns its process id */
function hang(slot: WorkerSlot | undefined): number {
  const pid = slot?.worker?.pid ?? 0;
  assert.ok(pid > 0);
  process.kill(pid, "SIGSTOP");
  return pid;
}

test("a worker that hangs is replaced, and the others open the listeners", limit, async (context) => {
  const { slots, sockets, log } = await poolOf(context, 2);
  const [first, second] = slots;
  const pid = hang(first);
  context.mock.timers.enable({ apis: ["setInterval"] });
  const preparing = prepareSlots(slots, sockets, [listenerOf({ port: await freePort() })]);
  context.mock.timers.tick(16_000);
  context.mock.timers.reset();
  const { listeners, workers } = await preparing;
  assert.equal(listeners.length, 1);
  assert.deepEqual([...workers], [second?.worker]);
  assert.match(log(), /worker does not reply and is killed/);
  await until("a successor", () => first?.worker !== null && first?.worker.pid !== pid);
});

test("if all hang, the error says how long they had, and that they were not starved", limit, async (context) => {
  const { slots, sockets } = await poolOf(context, 1);
  hang(slots[0]);
  context.mock.timers.enable({ apis: ["setInterval"] });
  const preparing = prepareSlots(slots, sockets, [listenerOf({ port: 0 })]);
  context.mock.timers.tick(16_000);
  await assert.rejects(preparing, (error: Error) => {
    assert.ok(error instanceof WorkerError);
    assert.match(
      error.message,
      /^Cannot open listeners in a worker: it must reply within 15 s, or 120 s if it has to wait for a processor, got no reply in 1[56] s, of which it waited 0 s for a processor$/,
    );
    return true;
  });
});

test("a worker that ends meanwhile is named with its end", limit, async (context) => {
  const { slots, sockets } = await poolOf(context, 1);
  const pid = hang(slots[0]);
  const preparing = prepareSlots(slots, sockets, [listenerOf({ port: 0 })]);
  process.kill(pid, "SIGKILL");
  await assert.rejects(preparing, { message: "Cannot open listeners in a worker: it must keep running, got SIGKILL" });
});

test(
  "a listener that cannot be opened is an error of the listener, and no worker is replaced",
  limit,
  async (context) => {
    const { slots, sockets, log } = await poolOf(context, 2);
    const taken = listenerOf({ port: 1, address: "192.0.2.1" });
    await assert.rejects(prepareSlots(slots, sockets, [taken]), ListenError);
    assert.doesNotMatch(log(), /is killed/);
  },
);

test("no worker at all is an error of its own", limit, async (context) => {
  const { slots, sockets } = await poolOf(context, 0);
  await assert.rejects(prepareSlots(slots, sockets, []), WorkerError);
});
