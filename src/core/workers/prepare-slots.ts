import type { ListenerConfig } from "../config/model/config.ts";
import { keysOf } from "../http/listener/listener-keys.ts";
import type { OpenListener } from "../http/listener/listener-set.ts";
import type { FullState } from "./messages.ts";
import { listenErrorOf } from "./sent-problem.ts";
import type { SharedSockets } from "./shared-sockets.ts";
import { WorkerError, type WorkerProcess } from "./worker-process.ts";
import type { WorkerSlot } from "./worker-slot.ts";

/** Workers that are prepared for the same listeners. */
export interface PreparedWorkers {
  readonly listeners: readonly OpenListener[];
  readonly workers: ReadonlySet<WorkerProcess>;
}

/**
 * Lets workers open the same listeners, one after the other. One that ends or hangs is passed over and replaced: its
 * successor gets the listeners that are in force then.
 * @throws ListenError if a listener cannot be opened, and WorkerError if no worker is left
 */
export async function prepareSlots(
  slots: readonly WorkerSlot[],
  sockets: SharedSockets,
  configs: readonly ListenerConfig[],
): Promise<PreparedWorkers> {
  let listeners: readonly OpenListener[] = [];
  const workers = new Set<WorkerProcess>();
  let failure: Error | null = null;
  for (const slot of slots) {
    const { worker } = slot;
    if (worker === null) continue;
    try {
      listeners = await prepareSlot(slot, sockets, { configs, fullState: null });
      workers.add(worker);
    } catch (error) {
      if (!(error instanceof WorkerError)) throw error;
      failure = error;
      await slot.discard(worker, error);
    }
  }
  if (workers.size === 0) throw failure ?? new WorkerError("listen", "no worker that started");
  return { listeners, workers };
}

/** What is prepared in one worker. */
interface Preparation {
  readonly configs: readonly ListenerConfig[];
  readonly fullState: FullState | null;
}

/** A slot, as far as listeners are opened in its worker. */
interface PreparedSlot {
  readonly keys: Set<string>;
  readonly process: Pick<WorkerProcess, "send" | "prepare"> | null;
}

/**
 * Lets a worker that does not answer yet open listeners, as {@link prepareSlot}. If they are in force no longer when it
 * has, they count for nothing, nor does it that one could not be opened: it closes them before it opens the next.
 * @returns whether they are in force
 */
export async function prepareInForce(
  slot: PreparedSlot,
  sockets: Pick<SharedSockets, "sendTo">,
  { isInForce, ...preparation }: Preparation & { readonly isInForce: () => boolean },
): Promise<boolean> {
  const before = new Set(slot.keys);
  try {
    await prepareSlot(slot, sockets, preparation);
    if (isInForce()) return true;
  } catch (error) {
    if (isInForce() || error instanceof WorkerError) throw error;
  }
  for (const key of slot.keys) if (!before.has(key)) slot.keys.delete(key);
  return false;
}

/**
 * Lets one worker open listeners, on the shared sockets as far as they are open already.
 * @throws ListenError if a listener cannot be opened, and WorkerError if the worker ends or does not reply in time
 */
async function prepareSlot(
  slot: PreparedSlot,
  sockets: Pick<SharedSockets, "sendTo">,
  { configs, fullState }: Preparation,
): Promise<readonly OpenListener[]> {
  const worker = slot.process;
  if (worker === null) throw new WorkerError("open listeners in a worker", "its end");
  sockets.sendTo(slot, keysOf(configs));
  const prepared = await worker.prepare(configs, fullState);
  if ("problem" in prepared) throw listenErrorOf(prepared.problem);
  return prepared.listeners;
}
