import type { IncomingMessage } from "node:http";
import { badRequest, errorReply, type Reply } from "./reply.ts";

/**
 * Makes every part of the program read a request as RFC 9112 does:
 *
 * - A target in absolute form decides on the host, and Host is ignored (3.2.2): the message gets the origin form, and
 *   the host of the target as its Host. The scheme is not compared: a proxy may end TLS.
 * - `*` is a target of OPTIONS alone (3.2.4).
 * - More than one Host is an error (3.2). A missing Host is not, because balancers send none; nor is an odd one, which
 *   names no node.
 * - Transfer-Encoding in HTTP/1.0 is faulty framing (6.1), and a coding other than chunked is not implemented (6.1).
 *
 * @returns the refusal of a request that must not be read; its connection is closed because its body is not read
 */
export function readAsOneRequest(message: IncomingMessage): Reply | null {
  return refuseHost(message) ?? refuseTarget(message) ?? refuseCoding(message);
}

function refuseHost({ rawHeaders }: IncomingMessage): Reply | null {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? "";
    if (name.length === 4 && name.toLowerCase() === "host") count += 1;
  }
  if (count < 2) return null;
  return badRequest({ subject: "header Host", value: `${count} headers`, allowed: "sent once" });
}

function refuseTarget(message: IncomingMessage): Reply | null {
  const { url: target = "/", method = "" } = message;
  if (target.startsWith("/")) return null;
  if (target === "*") {
    if (method === "OPTIONS") return null;
    return badRequest({ subject: "target", value: target, allowed: `a path for ${method}; * is for OPTIONS` });
  }
  // The authority ends where path, query or fragment begin (RFC 3986, 3.2).
  const [, authority = "", rest = ""] = /^https?:\/\/([^/?#]*)(.*)$/is.exec(target) ?? [];
  // A user in an http target is an error (RFC 9110, 4.2.4), and so is a missing host (4.2.1).
  if (authority === "" || authority.startsWith(":") || authority.includes("@")) {
    const allowed = "a path such as /nodes/pg1/primary, or http://host/path without a user";
    return badRequest({ subject: "target", value: target, allowed });
  }
  message.url = rest.startsWith("/") ? rest : `/${rest}`;
  message.headers.host = authority;
  return null;
}

function refuseCoding({ headers, httpVersionMinor }: IncomingMessage): Reply | null {
  const coding = headers["transfer-encoding"];
  if (coding === undefined) return null;
  if (httpVersionMinor === 0) {
    const text = "Cannot read the body of this request: HTTP/1.0 has no Transfer-Encoding";
    return errorReply(400, "body_unreadable", { message: text, headers: ["X-Rolecall-Reason", "body_unreadable"] });
  }
  if (coding.trim().toLowerCase() === "chunked") return null;
  const text = `Cannot read the body of this request: its transfer coding must be chunked, got ${JSON.stringify(coding.slice(0, 200))}`;
  return errorReply(501, "transfer_coding", { message: text, headers: ["X-Rolecall-Reason", "transfer_coding"] });
}
