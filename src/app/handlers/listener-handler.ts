import type { Config, ListenerConfig } from "../../config/model/config.ts";
import { ExporterRoles } from "../../http/exporter-api/exporter-roles.ts";
import { adminScopeOf } from "../../http/admin-api/admin-api.ts";
import type { IncomingCall } from "../../http/message/incoming-call.ts";
import { isReload } from "../../http/message/exporter-paths.ts";
import type { ListenerHandler, RequestHandler } from "../../http/message/handler.ts";
import type { Passthrough } from "../../http/message/passthrough.ts";
import type { Request } from "../../http/message/request.ts";
import { listenerDirectory } from "../../http/node-api/listener-directory.ts";
import { nodeHandler } from "../../http/node-api/node-handler.ts";
import type { AnswerSources } from "./answer-sources.ts";

/**
 * Answers the requests that need more than the snapshot. In the main process it does so itself; in a worker it relays
 * them to the main process.
 */
export interface Backend {
  readonly passthrough: Passthrough;
  /** Answers any request to an admin listener. */
  readonly admin: RequestHandler;
  /** Serves a diagnostics page. */
  readonly diagnostics: RequestHandler;
  /** Answers a request to an exporter listener whose path is not a role path. */
  readonly exporter: RequestHandler;
}

/** One listener and the configuration that it belongs to. */
export interface ListenerInConfig {
  readonly listener: ListenerConfig;
  readonly config: Config;
}

/**
 * Builds the handler of one listener, in the main process and in workers. No other place knows which API a listener
 * has.
 */
export function buildListenerHandler(
  { listener, config }: ListenerInConfig,
  sources: AnswerSources,
  backend: Backend,
): ListenerHandler {
  const { dialect } = listener;
  if (dialect === "admin") return Object.assign((call: IncomingCall) => backend.admin(call), { scopeOf: adminScopeOf });
  if (dialect === "exporter") return exporterHandler({ listener, config }, sources, backend);
  if (dialect === "node")
    return nodeHandler(listener, config, {
      inputs: sources.inputs,
      snapshot: sources.snapshot,
      now: sources.now,
      diagnostics: backend.diagnostics,
      passthrough: backend.passthrough,
      onAnswer: sources.onAnswer,
      onCheck: sources.onCheck,
      listeners: listenerDirectory(listener, config.listen, sources.portOf),
    });
  throw new Error(`Cannot build a handler: a listener with the dialect ${dialect} speaks no HTTP`);
}

function exporterHandler(
  { listener, config }: ListenerInConfig,
  sources: AnswerSources,
  { exporter }: Backend,
): ListenerHandler {
  const roles = new ExporterRoles({ cluster: exporterCluster(listener), node: listener.node }, sources);
  const handler: RequestHandler = async (call) => roles.answer(call.request) ?? exporter(call);
  const { telemetryPath } = config.exporter;
  return Object.assign(handler, { changesState: ({ target }: Request) => isReload(target, telemetryPath) });
}

/** The cluster of an exporter listener. In a valid configuration every such listener has one. */
export function exporterCluster({ cluster }: ListenerConfig): string {
  return cluster ?? "";
}
