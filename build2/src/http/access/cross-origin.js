import { errorReply } from "../message/reply.js";
/** How much of an origin an error shows, in characters. */
const shownMax = 200;
/**
 * Refuses a request that changes state and comes from a page of another site: the browser would send it with its
 * credentials, or from its network. Programs send none of `Origin`, `Sec-Fetch-Site` and `Referer`. Browsers send them
 * and let no page name another site in them (Fetch standard, "Origin header"; W3C Fetch Metadata; Referrer Policy).
 * @param trusted origins whose pages may send requests, as `https://console.example.com`
 * @returns the refusal; `null` if the request is allowed
 */
export function refuseCrossOrigin(headers, trusted) {
    const { origin, referer, host } = headers;
    if (origin !== undefined && trusted.includes(normalized(origin)))
        return null;
    if (headers["sec-fetch-site"] === "cross-site")
        return refusal("a page of another site (Sec-Fetch-Site: cross-site)");
    if (origin === undefined)
        return refuseReferer(referer, host, trusted);
    if (isSameHost(origin, host))
        return null;
    return refusal(`the origin ${JSON.stringify(origin.slice(0, shownMax))}`);
}
/**
 * A GET (a link, an image) has no Origin, and older browsers send no Sec-Fetch-Site, but they name the page in Referer.
 */
function refuseReferer(referer, host, trusted) {
    if (referer === undefined || trusted.includes(normalized(referer)) || isSameHost(referer, host))
        return null;
    return refusal(`a page of another site (Referer: ${JSON.stringify(referer.slice(0, shownMax))})`);
}
function refusal(from) {
    const message = `Cannot accept a request that changes state from ${from}: its origin must be this Host or one of the listener's trusted_origins`;
    return errorReply(403, "cross_origin", { message, headers: ["X-Rolecall-Reason", "cross_origin"] });
}
function normalized(origin) {
    return URL.canParse(origin) ? new URL(origin).origin : origin;
}
/** Whether an origin has the host and port of the Host header. A proxy may terminate TLS, so the scheme is ignored. */
function isSameHost(origin, host) {
    if (host === undefined || !/^https?:\/\//i.test(origin) || !URL.canParse(origin))
        return false;
    const { protocol, host: named } = new URL(origin);
    const own = `${protocol}//${host}`;
    return URL.canParse(own) && new URL(own).host === named;
}
//# sourceMappingURL=cross-origin.js.map