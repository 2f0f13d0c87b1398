import { type Answer, errorPage, json } from "./answer.ts";
import type { SimulatedRequest } from "./request.ts";
import { configure, patched } from "../model/configuration.ts";
import { parseJson } from "../../../core/cluster/values/json.ts";
import { isJsonObject, type SimulatorObject } from "../model/json.ts";
import { type CallOutcome, reply } from "../model/outcome.ts";
import { cancelRestart, reinitializeReplica, restartPostgres } from "../model/restart.ts";
import { cancelSwitchover, switchOver } from "../model/switchover.ts";
import type { NodeContext } from "./node-context.ts";
import { translateConfig } from "./vocabulary.ts";

/** The result of a management call: a text, something to wait for, or a document or error page. */
export type HandledCall = CallOutcome | { readonly kind: "answer"; readonly answer: Answer };

/**
 * Handles a management call. An unknown one is 501. A required body that is no JSON object with members is 400,
 * without a Content-Length 411, above 1 MiB 413.
 */
export function handleManagement(context: NodeContext, request: SimulatedRequest): HandledCall {
  const { cluster, node } = context;
  switch (`${request.method} ${request.head}`) {
    case "PATCH config":
      return withBody(request, (change) =>
        reconfigure(context, patched(cluster.config, translateConfig(change, context.vocabulary))),
      );
    case "PUT config":
      return withBody(request, (config) => reconfigure(context, translateConfig(config, context.vocabulary)));
    case "POST switchover":
      return withBody(request, (body) => switchOver(cluster, "switchover", body));
    case "POST failover":
      return withBody(request, (body) => switchOver(cluster, "failover", body));
    case "DELETE switchover":
      return cancelSwitchover(cluster);
    case "POST restart":
      return withOptionalBody(request, (body) => restartPostgres(cluster, node, body));
    case "DELETE restart":
      return cancelRestart(cluster, node);
    case "POST reload":
      return reply(202, "reload scheduled");
    case "POST reinitialize":
      return withOptionalBody(request, (body) => reinitializeReplica(cluster, node, body));
    default:
      return { kind: "answer", answer: errorPage(501) };
  }
}

function reconfigure({ cluster }: NodeContext, config: SimulatorObject): HandledCall {
  configure(cluster, config);
  return { kind: "answer", answer: json(200, cluster.config) };
}

/** Real nodes reject an empty object as a required body (Patroni 4.1.4 api.py, _read_json_content). */
function withBody(request: SimulatedRequest, act: (body: SimulatorObject) => HandledCall): HandledCall {
  if (request.body === undefined) return { kind: "answer", answer: errorPage(411) };
  return withObject(request.body, (body) => (Object.keys(body).length === 0 ? invalidBody() : act(body)));
}

function withOptionalBody(request: SimulatedRequest, act: (body: SimulatorObject) => HandledCall): HandledCall {
  return request.body === undefined || request.body === "" ? act({}) : withObject(request.body, act);
}

function withObject(
  text: NonNullable<SimulatedRequest["body"]>,
  act: (body: SimulatorObject) => HandledCall,
): HandledCall {
  if (typeof text !== "string") return { kind: "answer", answer: errorPage(413) };
  const body = parseJson(text);
  return isJsonObject(body) ? act(body) : invalidBody();
}

function invalidBody(): HandledCall {
  return { kind: "answer", answer: errorPage(400) };
}
