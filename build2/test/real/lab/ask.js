/** One HTTP request on a connection of its own, like a load balancer's check. */
import { request } from "node:http";
import { request as requestOverTls } from "node:https";
/**
 * Sends one request to 127.0.0.1 on a new connection. Without a response the status is 0. The deadline (2 s) covers the
 * body. Never throws.
 */
export function ask(question) {
    const { port, path, method = "GET", deadlineMs = 2000, ca } = question;
    const body = question.body === undefined ? "" : JSON.stringify(question.body);
    const headers = body === "" ? {} : { "Content-Type": "application/json", "Content-Length": String(Buffer.byteLength(body)) };
    const sentAtMs = performance.now();
    return new Promise((resolve) => {
        const silence = () => resolve({ status: 0, body: "", contentType: "", reason: "", sentAtMs, repliedAtMs: performance.now() });
        const open = ca === undefined ? request : requestOverTls;
        const clientRequest = open({ host: "127.0.0.1", port, path, method, headers, agent: false, ca }, (response) => {
            const chunks = [];
            response.on("data", (chunk) => chunks.push(chunk));
            response.on("error", silence);
            response.on("end", () => resolve({
                status: response.statusCode ?? 0,
                body: Buffer.concat(chunks).toString(),
                contentType: response.headers["content-type"] ?? "",
                reason: response.headersDistinct["x-rolecall-reason"]?.[0] ?? "",
                sentAtMs,
                repliedAtMs: performance.now(),
            }));
        });
        const deadline = setTimeout(() => clientRequest.destroy(), deadlineMs);
        clientRequest.on("close", () => {
            clearTimeout(deadline);
            silence(); // no effect if the reply was first
        });
        clientRequest.on("error", () => { }); // "close" follows
        clientRequest.end(body);
    });
}
//# sourceMappingURL=ask.js.map