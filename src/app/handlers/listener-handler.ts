import type { IncomingMessage } from "node:http";
import type { Config, ListenerConfig } from "../../config/model/config.ts";
import { ExporterRoles } from "../../http/exporter-api/exporter-roles.ts";
import { exporterPageOf, isReload } from "../../http/message/exporter-paths.ts";
import type { ListenerHandler } from "../../http/message/handler.ts";
import { isDelegated, type Delegated, type IncomingCall, type Passthrough } from "../../http/message/passthrough.ts";
import type { Reply } from "../../http/message/reply.ts";
import type { Request } from "../../http/message/request.ts";
import { nodeHandler } from "../../http/node-api/node-handler.ts";
import { paged, scrapesMax } from "../../http/pages/page.ts";
import type { PageGate } from "../../http/pages/page-gate.ts";
import type { AnswerSources } from "./answer-sources.ts";

type Answer = Reply | Promise<Reply> | Delegated;

/** Answers what needs more than the snapshot. The main process does it itself; a worker relays to the main process. */
export interface Backend {
  /** Limits pages over all listeners of this process. */
  readonly gate: PageGate;
  readonly passthrough: Passthrough;
  /** Answers any request to an admin listener. */
  readonly admin: (request: Request, message: IncomingMessage) => Answer;
  /** Answers a diagnostics page; `null` for other paths. */
  readonly diagnostics: (request: Request) => Reply | Delegated | null;
  /** Answers a request to an exporter listener that is no role path. */
  readonly exporter: (request: Request) => Answer;
}

/** One listener and the configuration that it belongs to. */
export interface ListenerInConfig {
  readonly listener: ListenerConfig;
  readonly config: Config;
}

/** Builds the handler of one listener: the one place that knows which API a listener speaks, in every process. */
export function buildListenerHandler(
  { listener, config }: ListenerInConfig,
  sources: AnswerSources,
  backend: Backend,
): ListenerHandler {
  switch (listener.dialect) {
    case "admin":
      return (request, message) => backend.admin(request, message);
    case "exporter":
      return exporterHandler({ listener, config }, sources, backend);
    case "node":
      return nodeHandler(listener, config, {
        inputs: sources.inputs,
        snapshot: sources.snapshot,
        now: sources.now,
        operator: backend.diagnostics,
        passthrough: backend.passthrough,
        onAnswer: sources.onAnswer,
      });
  }
}

function exporterHandler(
  { listener, config }: ListenerInConfig,
  sources: AnswerSources,
  { gate, exporter }: Backend,
): ListenerHandler {
  const { telemetryPath } = config.exporter;
  const roles = new ExporterRoles({ cluster: exporterCluster(listener), node: listener.node }, sources);
  const handler = (request: Request): Answer => {
    const role = roles.answer(request);
    if (role !== null) return role;
    const page = exporterPageOf(request.target, telemetryPath);
    if (page === null) return exporter(request);
    // All waiting scrapes of the metrics share one rendering.
    const atOnce = page === "metrics" ? scrapesMax : 1;
    return paged({
      gate,
      name: `exporter ${page}`,
      atOnce,
      render: ({ incoming }) => deliver(exporter(request), incoming),
    });
  };
  return Object.assign(handler, { changes: ({ target }: Request) => isReload(target, telemetryPath) });
}

/** The cluster of an exporter listener. The configuration is checked: every exporter listener has one. */
export function exporterCluster({ cluster }: ListenerConfig): string {
  return cluster ?? "";
}

/** @returns the reply, or `null` once a delegated answer was written */
function deliver(answer: Answer, incoming: IncomingCall): Reply | Promise<Reply | null> {
  if (answer instanceof Promise || !isDelegated(answer)) return answer;
  return answer.take(incoming).then(() => null);
}
