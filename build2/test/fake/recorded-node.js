import { createServer } from "node:http";
import { listenUntilClosed } from "./listen.js";
/**
 * A real server on a free port that answers like a recorded node: HTTP, one answer a connection. `status: 0` refuses.
 */
export async function serveRecordedNode(node) {
    const server = createServer((request, response) => {
        const recorded = node[(request.url ?? "/").slice(1)];
        response.shouldKeepAlive = false;
        if (recorded === undefined || recorded.status === 0) {
            request.socket.destroy();
            return;
        }
        response.statusCode = recorded.status;
        response.setHeader("Content-Type", "application/json");
        response.end(recorded.doc === undefined ? (recorded.text ?? "") : JSON.stringify(recorded.doc));
    });
    const { port, close } = await listenUntilClosed(server);
    const api = `http://127.0.0.1:${port}`;
    if (node["leader"]?.status === 0)
        await close();
    return { api, close: node["leader"]?.status === 0 ? async () => { } : close };
}
//# sourceMappingURL=recorded-node.js.map