import { type Answer, errorPage, json } from "./answer.ts";
import type { SimulatedRequest } from "./request.ts";
import type { Cluster } from "../model/cluster.ts";
import { configure, patched } from "../model/configuration.ts";
import { isJsonObject, type SimulatorObject, parseSimulatorJson } from "../model/json.ts";
import type { SimulatedNode } from "../model/node.ts";
import { type CallOutcome, reply } from "../model/outcome.ts";
import { cancelRestart, reinitializeReplica, restartPostgres } from "../model/restart.ts";
import { cancelSwitchover, switchOver } from "../model/switchover.ts";
import { translateConfig, type Vocabulary } from "./vocabulary.ts";

/** Where a management call arrives. */
export interface Addressee {
  readonly cluster: Cluster;
  readonly node: SimulatedNode;
  readonly vocabulary: Vocabulary;
}

/** What a management call comes to: a text, something to wait for, or a document or error page. */
export type HandledCall = CallOutcome | { readonly kind: "answer"; readonly answer: Answer };

/** Does a management call. An unknown one is 501; a body that must be and is not a filled JSON object 400, without a length 411, above 1 MiB 413. */
export function handleManagement(to: Addressee, asked: SimulatedRequest): HandledCall {
  const { cluster, node } = to;
  switch (`${asked.method} ${asked.head}`) {
    case "PATCH config":
      return withBody(asked, (change) =>
        reconfigure(to, patched(cluster.config, translateConfig(change, to.vocabulary))),
      );
    case "PUT config":
      return withBody(asked, (config) => reconfigure(to, translateConfig(config, to.vocabulary)));
    case "POST switchover":
      return withBody(asked, (body) => switchOver(cluster, "switchover", body));
    case "POST failover":
      return withBody(asked, (body) => switchOver(cluster, "failover", body));
    case "DELETE switchover":
      return cancelSwitchover(cluster);
    case "POST restart":
      return withOptionalBody(asked, (body) => restartPostgres(cluster, node, body));
    case "DELETE restart":
      return cancelRestart(cluster, node);
    case "POST reload":
      return reply(202, "reload scheduled");
    case "POST reinitialize":
      return withOptionalBody(asked, (body) => reinitializeReplica(cluster, node, body));
    default:
      return { kind: "answer", answer: errorPage(501) };
  }
}

function reconfigure({ cluster }: Addressee, config: SimulatorObject): HandledCall {
  configure(cluster, config);
  return { kind: "answer", answer: json(200, cluster.config) };
}

/** Real nodes refuse an empty object where a body is needed (Patroni 4.1.4 api.py, _read_json_content). */
function withBody(asked: SimulatedRequest, act: (body: SimulatorObject) => HandledCall): HandledCall {
  if (asked.body === undefined) return { kind: "answer", answer: errorPage(411) };
  return withObject(asked.body, (body) => (Object.keys(body).length === 0 ? refused() : act(body)));
}

function withOptionalBody(asked: SimulatedRequest, act: (body: SimulatorObject) => HandledCall): HandledCall {
  return asked.body === undefined || asked.body === "" ? act({}) : withObject(asked.body, act);
}

function withObject(
  text: NonNullable<SimulatedRequest["body"]>,
  act: (body: SimulatorObject) => HandledCall,
): HandledCall {
  if (typeof text !== "string") return { kind: "answer", answer: errorPage(413) };
  const body = parseSimulatorJson(text);
  return isJsonObject(body) ? act(body) : refused();
}

function refused(): HandledCall {
  return { kind: "answer", answer: errorPage(400) };
}
