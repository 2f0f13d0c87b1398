import { createServer } from "node:net";
/** A TCP server on a free port. The test handles each connection. It is closed when the test ends. */
export async function serveRaw(context, onConnection) {
    const sockets = new Set();
    const server = createServer((socket) => {
        sockets.add(socket);
        socket.on("error", () => { });
        socket.on("close", () => sockets.delete(socket));
        onConnection(socket);
    });
    await new Promise((resolve) => void server.listen(0, "127.0.0.1", resolve));
    context.after(() => new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets)
            socket.destroy();
    }));
    const address = server.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    return { origin: `http://127.0.0.1:${port}`, port };
}
/** A server that answers each request head with the same bytes, and then closes, unless it keeps the connection. */
export function serveBytes(context, bytes, { keeps = false } = {}) {
    return serveRaw(context, (socket) => {
        socket.on("data", () => {
            socket.write(bytes);
            if (!keeps)
                socket.end();
        });
    });
}
/**
 * A server that reads request heads and answers each with bytes that the test chooses, without an HTTP library.
 */
export function serveRawAnswers(context, answer) {
    return serveRaw(context, (socket) => {
        let head = "";
        socket.on("data", (chunk) => {
            head += chunk.toString("latin1");
            const end = head.indexOf("\r\n\r\n");
            if (end < 0)
                return;
            const [line = "", ...lines] = head.slice(0, end).split("\r\n");
            head = "";
            const [method = "", path = ""] = line.split(" ");
            const headers = new Map(lines.map((text) => [
                text.split(":", 1)[0]?.toLowerCase() ?? "",
                text.replace(/^[^:]*: */, ""),
            ]));
            write(socket, answer({ method, path, headers }));
        });
    });
}
function write(socket, { pieces, end }) {
    const [first, ...rest] = pieces;
    if (first !== undefined) {
        socket.write(first, () => setImmediate(write, socket, { pieces: rest, end }));
    }
    else if (end === "close")
        socket.end();
    else if (end === "reset")
        socket.resetAndDestroy();
}
/** A whole JSON answer, as nodes write it. */
export function jsonAnswer(status, document) {
    const body = JSON.stringify(document);
    const head = `HTTP/1.0 ${status} X\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n`;
    return { pieces: [Buffer.from(head + body)], end: "close" };
}
//# sourceMappingURL=raw-node.js.map