import { relay } from "../../gateway/relay.ts";
import { operatorPageOf } from "../../http/node-api/diagnostics-paths.ts";
import type { Delegated, IncomingCall } from "../../http/message/passthrough.ts";
import { paged } from "../../http/pages/page.ts";
import type { PageGate } from "../../http/pages/page-gate.ts";
import type { RelayAddress } from "../../workers/messages.ts";
import type { Backend } from "../handlers/listener-handler.ts";

/** What the backend of one listener in a worker depends on. */
export interface WorkerBackendContext {
  readonly gate: PageGate;
  /** The relay server of the main process. */
  readonly relayAddress: () => RelayAddress;
  /** The key of the listener, by which the main process knows it. */
  readonly key: string;
}

/**
 * Builds the backend of one listener in a worker: it relays to the main process. Pages go through the worker's page
 * gate first, so that the main process, which renders them, is not flooded through its workers.
 */
export function buildWorkerBackend({ gate, relayAddress, key }: WorkerBackendContext): Backend {
  const take = (incoming: IncomingCall): Promise<void> => relay(incoming, { ...relayAddress(), listener: key });
  const relayed: Delegated = { take };
  return {
    gate,
    passthrough: { manage: (_, incoming) => take(incoming), fetch: (_, incoming) => take(incoming) },
    admin: () => relayed,
    diagnostics: ({ target }) =>
      paged({ gate, name: operatorPageOf(target), render: ({ incoming }) => take(incoming).then(() => null) }),
    exporter: () => relayed,
  };
}
