import { handleUnder } from "./node-internals.js";
/**
 * Offers each connection that a server accepts from now on to `take`.
 * @param server listens already
 * @param take returns whether it takes the connection. The server gets the others as usual. Must not throw
 * @returns `null` if the server's handle is not that of a TCP server: then nothing has changed
 */
export function interceptConnections(server, take) {
    const listening = handleUnder(server);
    if (!isListeningHandle(listening))
        return null;
    const { onconnection } = listening;
    const pass = (status, handle) => Reflect.apply(onconnection, listening, [status, handle]);
    listening.onconnection = (status, handle) => {
        if (status !== 0 || !take(handle))
            pass(status, handle);
    };
    return (handle) => pass(0, handle);
}
/** The address of a connection's peer; empty if the peer has gone. */
export function peerOf(handle) {
    const out = {};
    handle.getpeername(out);
    return out.address ?? "";
}
/** Of all servers' handles only those of TCP servers have `getsockname`. */
function isListeningHandle(value) {
    return (typeof value === "object" &&
        value !== null &&
        "getsockname" in value &&
        "onconnection" in value &&
        typeof value.onconnection === "function");
}
//# sourceMappingURL=intercept-connections.js.map