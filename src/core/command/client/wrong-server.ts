import { isObject, parseJson } from "../../cluster/values/json.ts";
import type { RolecallReply } from "../connect/exchange.ts";
import { defaultServers, type FoundListener, type ListenerKind } from "../connect/listener-finder.ts";
import { CommandError } from "../framework/command-error.ts";

/** Errors with which a listener replies if it does not have what was requested. Such a request has no effect. */
const wrongListenerErrors: readonly unknown[] = ["operator_pages_off", "management_off", "not_found"];

/**
 * Whether a database node's own API replied. rolecall serves the same status documents, but with headers of its own.
 */
export function isFromNode({ headers, text }: RolecallReply): boolean {
  if (headers["x-rolecall-node"] !== undefined || headers["x-rolecall-reason"] !== undefined) return false;
  const document = parseJson(text);
  return isObject(document) && isObject(document["patroni"]) && document["rolecall"] === undefined;
}

/** The error about a server that is the API of a database node, not rolecall. */
export function notRolecall({ origin }: URL): CommandError {
  return new CommandError(
    "RC007",
    `Cannot use ${origin}: it must be a listener of rolecall, got the API of a database node`,
    `Pass the URL of rolecall with --server. To probe the cluster of that node: rolecall status --discover ${origin}`,
  );
}

/**
 * Whether rolecall replied that this listener does not have what was requested. A reply that it forwards from a node
 * does not count.
 */
export function isFromWrongListener({ headers, text }: RolecallReply): boolean {
  const document = parseJson(text);
  if (headers["x-rolecall-node"] !== undefined || !isObject(document)) return false;
  const { error, thing } = document;
  return wrongListenerErrors.includes(error) || (error === "bad_request" && thing === "route");
}

/**
 * The error about a listener that lacks what a command needs, when no other listener can serve the command either.
 * @param found what was found: no listener of that kind (`missing`), or only one without TLS (`no_tls`)
 */
export function wrongListener(
  base: URL,
  kind: ListenerKind,
  found: Extract<FoundListener, { readonly kind: "missing" | "no_tls" }>,
): CommandError {
  const wanted = {
    admin: "an admin listener",
    node: "a health listener",
    management: "a health listener with management: on",
  }[kind];
  if (found.kind === "no_tls")
    return new CommandError(
      "RC007",
      `Cannot use ${base.origin} for this: it needs ${wanted}, which is at ${found.url.origin} without TLS`,
      `Enable TLS on that listener. To send the request without TLS, pass --server ${found.url.origin}`,
    );
  const dialect = kind === "admin" ? "admin" : "node";
  const example = `http://${base.hostname}:${new URL(defaultServers[dialect]).port}`;
  const is = found.dialect === "node" ? "a health listener" : `an ${found.dialect} listener`;
  return new CommandError(
    "RC007",
    `Cannot use ${base.origin} for this: it is ${is}, and this needs ${wanted}; ` +
      "none is open to this machine at that address",
    `Pass the URL of ${wanted}, such as --server ${example}`,
  );
}
