import { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { createProxyServer } from "http-proxy";
/** The handler of each request in flight, by the message that http-proxy was given for it. */
const handlers = new WeakMap();
/**
 * One server for all upstreams: every request has its own target. `selfHandleResponse` leaves the response to us.
 */
const proxyServer = createProxyServer({ selfHandleResponse: true });
proxyServer.on("proxyReq", (request, message) => handlers.get(message)?.onRequest(request));
proxyServer.on("proxyRes", (answer, message) => handlers.get(message)?.onAnswer(answer));
proxyServer.on("error", (error, message) => handlers.get(message)?.onError(error));
/** Sends a request with http-proxy. */
export function proxyRequest(request, handler) {
    const { call, path, headers, body, credentials } = request;
    const { servername } = credentials.tls;
    // http-proxy takes method, path and headers from a message, and modifies its headers: it gets a message of its own.
    const message = Object.assign(new IncomingMessage(call.message.socket), {
        method: call.message.method,
        url: path,
        headers,
        httpVersion: call.message.httpVersion,
        httpVersionMajor: call.message.httpVersionMajor,
        httpVersionMinor: call.message.httpVersionMinor,
    });
    handlers.set(message, handler);
    proxyServer.web(message, call.response, {
        target: targetOf(request),
        buffer: Readable.from(body.length === 0 ? [] : [body]),
        ssl: servername === undefined ? {} : { servername },
        ...(credentials.auth === null ? {} : { auth: credentials.auth }),
    });
}
function targetOf({ origin, credentials }) {
    const { protocol, hostname, port } = new URL(origin);
    const host = hostname.replace(/^\[(.*)\]$/, "$1");
    const { ca, cert, key } = credentials.tls;
    return {
        protocol,
        host,
        port: port === "" ? (protocol === "https:" ? 443 : 80) : Number(port),
        ...(ca === undefined ? {} : { ca }),
        ...(cert === undefined ? {} : { cert }),
        ...(key === undefined ? {} : { key }),
    };
}
//# sourceMappingURL=proxy-server.js.map