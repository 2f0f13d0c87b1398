import { isObject, parseJson, type JsonObject } from "../../cluster/values/json.ts";
import { CommandError } from "../framework/command-error.ts";
import { replyMessage, type RolecallReply } from "./rolecall-client.ts";

/** What rolecall would do with a management call: `pass` forwards it to a node. */
export type DryRunDecision =
  | { readonly would: "pass"; readonly node: string | null }
  | { readonly would: "refuse"; readonly status: number | null; readonly reason: string; readonly message: string };

/**
 * Reads the reply to a call with `?dry_run=1`. If its status is not a success, the listener refused the request itself.
 * @param call the method and path of the request, such as `POST /switchover`
 * @throws CommandError (RC007) if the reply is a success, but not the document of a dry run: the server may have
 *   executed the call
 */
export function readDryRun(call: string, reply: RolecallReply): DryRunDecision {
  const document = parseJson(reply.text);
  const isSuccess = reply.status >= 200 && reply.status < 300;
  const isDecision = isObject(document) && document["dry_run"] === true;
  if (!isSuccess) return { would: "refuse", status: reply.status, reason: reply.phrase, message: replyMessage(reply) };
  if (!isDecision || (document["would"] !== "pass" && document["would"] !== "refuse")) {
    throw new CommandError(
      "RC007",
      `Cannot read the reply to the dry run of ${call}: it must be the document of a dry run, got ${reply.status} ` +
        `${reply.phrase}. The server may not be rolecall, and may have executed the call`,
    );
  }
  if (document["would"] === "pass") return { would: "pass", node: nodeOf(document) };
  const { status, error, message } = document;
  return {
    would: "refuse",
    status: typeof status === "number" ? status : null,
    reason: typeof error === "string" ? error : "",
    message: typeof message === "string" ? message : "no reason given",
  };
}

/** The node that the call would be sent to, such as `demo/pg1`. */
function nodeOf({ cluster, node }: JsonObject): string | null {
  if (typeof node !== "string") return null;
  return typeof cluster === "string" ? `${cluster}/${node}` : node;
}
