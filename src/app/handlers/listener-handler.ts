import type { ListenerInConfig } from "../../core/feature/listener-api.ts";
import { adminScopeOf } from "../../core/http/admin-api/admin-api.ts";
import type { IncomingCall } from "../../core/http/message/incoming-call.ts";
import type { ListenerHandler, RequestHandler } from "../../core/http/message/handler.ts";
import type { Passthrough } from "../../core/http/message/passthrough.ts";
import { listenerDirectory } from "../../core/http/node-api/listener-directory.ts";
import { nodeHandler } from "../../core/http/node-api/node-handler.ts";
import { listenerApiOf } from "../registry/listener-apis.ts";
import type { AnswerSources } from "./answer-sources.ts";
import { apiHandler } from "./feature-api.ts";

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
  /** Answers what the API of a feature does not answer from memory. */
  readonly rest: RequestHandler;
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
  const api = listenerApiOf(dialect);
  if (api !== undefined) return apiHandler(api, { listener, config }, { sources, rest: backend.rest });
  if (dialect === "admin") return Object.assign((call: IncomingCall) => backend.admin(call), { scopeOf: adminScopeOf });
  if (dialect !== "node")
    throw new Error(`Cannot build a handler: the dialect must be one that is spoken over HTTP, got ${dialect}`);
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
}
