import type { IncomingHttpHeaders } from "node:http";
import { errorReply, type Reply } from "../message/reply.ts";

/** How much of an origin an error shows, in characters. */
const shownMax = 200;

/**
 * Refuses a call that changes something and that a page of another site makes, with the credentials that the browser holds or from the
 * network that it is in. Programs send neither `Origin` nor `Sec-Fetch-Site`; browsers send both and let no page change them (Fetch
 * standard, "Origin header"; W3C Fetch Metadata).
 * @param trusted origins whose pages may call, as `https://console.example.com`
 * @returns the refusal, or `null` where the call may go on
 */
export function refuseCrossOrigin(headers: IncomingHttpHeaders, trusted: readonly string[]): Reply | null {
  const { origin, host } = headers;
  if (origin !== undefined && trusted.includes(normalized(origin))) return null;
  if (headers["sec-fetch-site"] === "cross-site") return refusal("a page of another site (Sec-Fetch-Site: cross-site)");
  if (origin === undefined || isOf(origin, host)) return null;
  return refusal(`the origin ${JSON.stringify(origin.slice(0, shownMax))}`);
}

function refusal(from: string): Reply {
  const message = `Cannot accept a call that changes something from ${from}: its Origin must be this Host or one of the listener's trusted_origins`;
  return errorReply(403, "cross_origin", { message, headers: ["X-Rolecall-Reason", "cross_origin"] });
}

function normalized(origin: string): string {
  return URL.canParse(origin) ? new URL(origin).origin : origin;
}

/** Whether an origin has the host and port that the client asked for. TLS may end before us, so that its scheme says nothing. */
function isOf(origin: string, host: string | undefined): boolean {
  if (host === undefined || !/^https?:\/\//i.test(origin) || !URL.canParse(origin)) return false;
  const { protocol, host: named } = new URL(origin);
  const own = `${protocol}//${host}`;
  return URL.canParse(own) && new URL(own).host === named;
}
