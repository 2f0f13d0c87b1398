import { type Answer, errorPage, json } from "./answer.ts";
import type { Asked } from "./asked.ts";
import type { Cluster } from "./cluster.ts";
import { configure, patched } from "./configuration.ts";
import { isJsonObject, type JsonObject, parseJson } from "./json.ts";
import type { Node } from "./node.ts";
import { type Outcome, reply } from "./outcome.ts";
import { cancelRestart, reinitialize, restart } from "./restart.ts";
import { cancelSwitchover, switchOver } from "./switchover.ts";
import { translateConfig, type Vocabulary } from "./vocabulary.ts";

/** Where a management call arrives. */
export interface Addressee {
  readonly cluster: Cluster;
  readonly node: Node;
  readonly vocabulary: Vocabulary;
}

/** What a management call comes to: a text, something to wait for, or a document or error page. */
export type Managed = Outcome | { readonly kind: "answer"; readonly answer: Answer };

/** Does a management call. An unknown one is 501; a body that must be and is not a filled JSON object 400, without a length 411, above 1 MiB 413. */
export function manage(to: Addressee, asked: Asked): Managed {
  const { cluster, node } = to;
  switch (`${asked.method} ${asked.head}`) {
    case "PATCH config":
      return withBody(asked, (change) => reconfigure(to, patched(cluster.config, translateConfig(change, to.vocabulary))));
    case "PUT config":
      return withBody(asked, (config) => reconfigure(to, translateConfig(config, to.vocabulary)));
    case "POST switchover":
      return withBody(asked, (body) => switchOver(cluster, "switchover", body));
    case "POST failover":
      return withBody(asked, (body) => switchOver(cluster, "failover", body));
    case "DELETE switchover":
      return cancelSwitchover(cluster);
    case "POST restart":
      return withOptionalBody(asked, (body) => restart(cluster, node, body));
    case "DELETE restart":
      return cancelRestart(cluster, node);
    case "POST reload":
      return reply(202, "reload scheduled");
    case "POST reinitialize":
      return withOptionalBody(asked, (body) => reinitialize(cluster, node, body));
    default:
      return { kind: "answer", answer: errorPage(501) };
  }
}

function reconfigure({ cluster }: Addressee, config: JsonObject): Managed {
  configure(cluster, config);
  return { kind: "answer", answer: json(200, cluster.config) };
}

/** Real nodes refuse an empty object where a body is needed (Patroni 4.1.4 api.py, _read_json_content). */
function withBody(asked: Asked, act: (body: JsonObject) => Managed): Managed {
  if (asked.body === undefined) return { kind: "answer", answer: errorPage(411) };
  return withObject(asked.body, (body) => (Object.keys(body).length === 0 ? refused() : act(body)));
}

function withOptionalBody(asked: Asked, act: (body: JsonObject) => Managed): Managed {
  return asked.body === undefined || asked.body === "" ? act({}) : withObject(asked.body, act);
}

function withObject(text: NonNullable<Asked["body"]>, act: (body: JsonObject) => Managed): Managed {
  if (typeof text !== "string") return { kind: "answer", answer: errorPage(413) };
  const body = parseJson(text);
  return isJsonObject(body) ? act(body) : refused();
}

function refused(): Managed {
  return { kind: "answer", answer: errorPage(400) };
}
