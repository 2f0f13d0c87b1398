import { relay } from "../../gateway/relay.ts";
import { exporterPageOf } from "../../http/message/exporter-paths.ts";
import type { RequestHandler } from "../../http/message/handler.ts";
import type { IncomingCall } from "../../http/message/incoming-call.ts";
import { diagnosticsPageOf } from "../../http/node-api/diagnostics-paths.ts";
import { scrapesMax, servePage } from "../../http/pages/page.ts";
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
  /** The path of the metrics on exporter listeners. */
  readonly telemetryPath: string;
}

/**
 * Builds the backend of one listener in a worker: it relays to the main process. Pages go through the worker's page
 * gate first, so that the main process, which renders them, is not flooded through its workers.
 */
export function buildWorkerBackend({ gate, relayAddress, key, telemetryPath }: WorkerBackendContext): Backend {
  const relayToMain = (call: IncomingCall): Promise<void> => relay(call, { ...relayAddress(), listener: key });
  const relayCall: RequestHandler = (call) => relayToMain(call).then(() => null);
  const relayPage = (name: string, runningMax: number, call: IncomingCall): Promise<null> =>
    servePage({ gate, name, runningMax, render: () => relayCall(call) }, call);
  return {
    passthrough: { manage: (_, call) => relayToMain(call), fetch: (_, call) => relayToMain(call) },
    admin: relayCall,
    diagnostics: (call) => relayPage(diagnosticsPageOf(call.request.target), 1, call),
    exporter: (call) => {
      const page = exporterPageOf(call.request.target, telemetryPath);
      if (page === null) return relayCall(call);
      // All waiting scrapes of the metrics share one rendering.
      return relayPage(`exporter ${page}`, page === "metrics" ? scrapesMax : 1, call);
    },
  };
}
