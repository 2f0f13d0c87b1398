import { request as plainRequest } from "node:http";
import { request as tlsRequest } from "node:https";
/** Sends one request on a connection of its own. Rejects if there is no complete response. */
export function sendRequest(url, { method = "GET", headers = {}, body, tls = {} } = {}) {
    const text = body === undefined ? null : typeof body === "string" ? body : JSON.stringify(body);
    const options = {
        method,
        agent: false,
        headers: { ...(text === null ? {} : { "content-length": String(Buffer.byteLength(text)) }), ...headers },
        ...tls,
    };
    return new Promise((resolve, reject) => {
        const clientRequest = (url.startsWith("https:") ? tlsRequest : plainRequest)(url, options, (response) => {
            const chunks = [];
            response.on("data", (chunk) => chunks.push(chunk));
            response.on("error", reject);
            response.on("end", () => resolve({
                status: response.statusCode ?? 0,
                phrase: response.statusMessage ?? "",
                headers: response.headers,
                body: Buffer.concat(chunks).toString(),
            }));
        });
        clientRequest.on("error", reject);
        clientRequest.end(text ?? undefined);
    });
}
//# sourceMappingURL=http-request.js.map