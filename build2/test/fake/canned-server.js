import { createServer } from "node:http";
import { listenUntilClosed } from "./listen.js";
/**
 * A real server with one answer for each path (`METHOD /path` takes precedence over `/path`). It records the requests.
 */
export async function serveCannedAnswers(answers) {
    const received = [];
    const server = createServer((request, response) => {
        const chunks = [];
        request.on("data", (chunk) => chunks.push(chunk));
        request.on("end", () => {
            const { method = "", url = "", headers } = request;
            const text = Buffer.concat(chunks).toString();
            received.push({
                method,
                path: url,
                body: text === "" ? null : JSON.parse(text),
                type: headers["content-type"],
                authorization: headers.authorization,
            });
            const answer = answers[`${method} ${url}`] ??
                answers[url] ?? { status: 404, body: { message: `nothing at ${url}` } };
            if (answer.isSilent === true)
                return;
            response.writeHead(answer.status ?? 200, { "Content-Type": "application/json", ...answer.headers });
            response.end(typeof answer.body === "string" ? answer.body : JSON.stringify(answer.body));
        });
    });
    const { port, close } = await listenUntilClosed(server);
    return { url: `http://127.0.0.1:${port}`, received, close };
}
//# sourceMappingURL=canned-server.js.map