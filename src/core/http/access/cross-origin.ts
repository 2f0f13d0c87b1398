import type { IncomingHttpHeaders } from "node:http";
import { isIP } from "node:net";
import { errorReply, type Reply } from "../message/reply.ts";

/** How much of an origin an error shows, in characters. */
const shownMax = 200;

/** What decides which pages may send requests that change something. */
export interface OriginRules {
  /** Origins whose pages may send them, as `https://console.example.com`. */
  readonly trusted: readonly string[];
  /** Whether such a request needs a credential, or TLS with the name of this Host. */
  readonly isProtected: boolean;
  /** Whether the method is one that browsers send without an Origin: GET for links and images. */
  readonly isSafeMethod: boolean;
}

/**
 * Refuses a request that changes state and comes from a page of another site: the browser would send it with its
 * credentials, or from its network. Programs send none of `Origin`, `Sec-Fetch-Site` and `Referer`. Browsers send them
 * and let no page name another site in them (Fetch standard, "Origin header"; W3C Fetch Metadata; Referrer Policy).
 *
 * A page whose origin is the Host is another site's too if the owner of its name lets the name resolve to this listener
 * (DNS rebinding). A credential or a certificate of that name cannot come from there. Without both, only a Host that is
 * an address, or `localhost`, counts as our own.
 *
 * A page can keep a browser from sending Referer, and over plain http browsers send no `Sec-Fetch-Site`. So a GET of a
 * browser that says nothing of its page is refused: it may be an image of any site.
 * @returns the refusal; `null` if the request is allowed
 */
export function refuseCrossOrigin(headers: IncomingHttpHeaders, rules: OriginRules): Reply | null {
  const { origin, referer } = headers;
  if (origin !== undefined && rules.trusted.includes(normalized(origin))) return null;
  if (headers["sec-fetch-site"] === "cross-site") return refusal("a page of another site (Sec-Fetch-Site: cross-site)");
  if (origin === undefined)
    return referer === undefined ? refuseNameless(headers, rules) : refuseReferer(referer, headers.host, rules);
  if (isOwn(origin, headers.host, rules)) return null;
  return refusal(`the origin ${JSON.stringify(origin.slice(0, shownMax))}`);
}

/** A GET (a link, an image) has no Origin, and older browsers send no Sec-Fetch-Site: most name the page in Referer. */
function refuseReferer(referer: string, host: string | undefined, rules: OriginRules): Reply | null {
  if (rules.trusted.includes(normalized(referer)) || isOwn(referer, host, rules)) return null;
  return refusal(`a page of another site (Referer: ${JSON.stringify(referer.slice(0, shownMax))})`);
}

/**
 * Decides on a request with neither Origin nor Referer. A GET that a person typed is `Sec-Fetch-Site: none`. A page of
 * a name that was rebound to this listener can send a GET that looks like a program's, in some browsers with any
 * User-Agent: so a GET needs a Host of our own. Every browser names the origin of a POST.
 */
function refuseNameless(headers: IncomingHttpHeaders, rules: OriginRules): Reply | null {
  const site = headers["sec-fetch-site"];
  if (site === "same-site") return refusal("a page of another origin (Sec-Fetch-Site: same-site)");
  if (!rules.isSafeMethod) return null;
  if (!isOwnHost(headers.host, rules)) return refuseHost(headers.host);
  if (site !== undefined || !isBrowser(headers["user-agent"])) return null;
  const message =
    "Cannot accept a GET request that changes state from a browser that does not name the page that sent it: " +
    "use POST, as with curl -X POST";
  return crossOriginReply(message);
}

/** Every browser calls itself Mozilla, and no page can change that for a link or an image. */
function isBrowser(userAgent: string | undefined): boolean {
  return /^Mozilla\//i.test(userAgent ?? "");
}

function refusal(from: string): Reply {
  const message = `Cannot accept a request that changes state from ${from}: its origin must be one of the listener's trusted_origins, or this Host: an address, localhost, or any name if the listener has auth or tls`;
  return crossOriginReply(message);
}

function crossOriginReply(message: string): Reply {
  return errorReply(403, "cross_origin", { message, headers: ["X-Rolecall-Reason", "cross_origin"] });
}

function normalized(origin: string): string {
  return URL.canParse(origin) ? new URL(origin).origin : origin;
}

function isOwn(origin: string, host: string | undefined, { isProtected }: OriginRules): boolean {
  return isSameHost(origin, host) && (isProtected || isAddress(host));
}

/** Whether a Host cannot be a name that others point to this listener. Browsers send a Host with every request. */
function isOwnHost(host: string | undefined, { isProtected, trusted }: OriginRules): boolean {
  if (host === undefined || isProtected || isAddress(host)) return true;
  return ["http", "https"].some((scheme) => trusted.includes(normalized(`${scheme}://${host}`)));
}

function refuseHost(host: string | undefined): Reply {
  const message =
    `Cannot accept a GET request that changes state for the Host ${JSON.stringify(host?.slice(0, shownMax))}: ` +
    "it must be an address, localhost, the host of one of trusted_origins, or any name if the listener has auth or tls. " +
    "Use POST, as with curl -X POST";
  return crossOriginReply(message);
}

/** Whether a Host is an IP address or `localhost`, with or without a port: no name that others can point to us. */
function isAddress(host: string | undefined): boolean {
  if (host === undefined || !URL.canParse(`http://${host}`)) return false;
  const { hostname } = new URL(`http://${host}`);
  return isIP(hostname.replace(/^\[|\]$/g, "")) !== 0 || hostname === "localhost" || hostname.endsWith(".localhost");
}

/** Whether an origin has the host and port of the Host header. A proxy may terminate TLS, so the scheme is ignored. */
function isSameHost(origin: string, host: string | undefined): boolean {
  if (host === undefined || !/^https?:\/\//i.test(origin) || !URL.canParse(origin)) return false;
  const { protocol, host: named } = new URL(origin);
  const own = `${protocol}//${host}`;
  return URL.canParse(own) && new URL(own).host === named;
}
