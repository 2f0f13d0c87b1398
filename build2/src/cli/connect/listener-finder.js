import { isObject, listOf, parseJson } from "../../cluster/values/json.js";
/** The default addresses of a running rolecall: of its health listener and of its admin listener. */
export const defaultServers = { node: "http://127.0.0.1:8008", admin: "http://127.0.0.1:9108" };
/**
 * Finds the listener of a kind that belongs to the rolecall behind a URL. Only ports of the same host are followed, and
 * https never leads to http: the credentials of the user go with the request.
 */
export async function findListener(start, kind, ask) {
    const described = await describe(start, ask);
    if (described === null || isOwn(described, kind))
        return { kind: "here" };
    const direct = described.listeners.find((listener) => isOfKind(listener, kind));
    if (direct !== undefined)
        return reachable(start, direct);
    // A health listener names only admin listeners, and an admin listener names all of them.
    const admin = described.listeners.find((listener) => isOfKind(listener, "admin"));
    const next = admin === undefined || kind === "admin" ? null : reachable(start, admin);
    if (next?.kind === "found") {
        const listener = (await describe(next.url, ask))?.listeners.find((candidate) => isOfKind(candidate, kind));
        if (listener !== undefined)
            return reachable(start, listener);
    }
    return { kind: "missing", dialect: described.dialect };
}
function isOwn({ dialect }, kind) {
    return dialect === kind;
}
function isOfKind({ dialect, management }, kind) {
    return kind === "management" ? dialect === "node" && management : dialect === kind;
}
function reachable(start, { port, tls }) {
    const url = new URL(`${tls ? "https" : "http"}://${start.hostname}:${port}`);
    return start.protocol === "https:" && !tls ? { kind: "no_tls", url } : { kind: "found", url };
}
async function describe(base, ask) {
    const reply = await ask(base);
    const document = reply === null ? undefined : parseJson(reply.text);
    if (!isObject(document) || typeof document["listener"] !== "string")
        return null;
    const listeners = listOf(document["listeners"])
        .filter(isObject)
        .flatMap(({ dialect, port, tls, management }) => typeof dialect === "string" && typeof port === "number" && Number.isInteger(port) && port > 0 && port < 65_536
        ? [{ dialect, port, tls: tls === true, management: management === true }]
        : []);
    return { dialect: document["listener"], listeners };
}
//# sourceMappingURL=listener-finder.js.map