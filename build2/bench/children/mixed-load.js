/**
 * `mixed-load URL SECONDS CONNECTIONS TARGETS`: sends the requests (JSON, method and path each) in turn on kept
 * connections, one at a time on each, at full speed. It knows that an answer to HEAD has no body. Prints the result as
 * one line of JSON (bench/load-result.ts).
 */
import { connect } from "node:net";
const [url = "", seconds = "1", connections = "64", targets = "[]"] = process.argv.slice(2);
const { hostname, port, host } = new URL(url);
const requests = JSON.parse(targets).map(({ method, path }) => ({
    isHead: method === "HEAD",
    bytes: Buffer.from(`${method} ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`),
}));
let answers = 0;
let unanswered = 0;
let failures = 0;
let strange = 0;
let isOver = false;
const open = new Set();
/** The length in bytes of the answer that begins here, or `undefined` while its head is not complete. */
function sizeOf(text, isHead) {
    const end = text.indexOf("\r\n\r\n");
    if (end < 0)
        return undefined;
    const length = /\r\ncontent-length: *(\d+)/i.exec(text.slice(0, end))?.[1];
    if (length === undefined)
        throw new Error("Cannot read an answer: it must have a Content-Length, got none");
    return end + 4 + (isHead ? 0 : Number(length));
}
function openConnection(first) {
    let at = first;
    let text = "";
    const socket = connect({ port: Number(port), host: hostname, noDelay: true });
    const send = () => {
        const request = requests[(at += 1) % requests.length];
        if (request !== undefined)
            socket.write(request.bytes);
    };
    open.add(socket);
    socket.on("connect", send);
    socket.on("data", (chunk) => {
        if (isOver)
            return;
        text += chunk.toString("latin1");
        const size = sizeOf(text, requests[at % requests.length]?.isHead ?? false);
        if (size === undefined || text.length < size)
            return;
        // A body after an answer to HEAD, or an answer without a request.
        if (text.length > size)
            throw new Error(`Cannot read an answer: it must end after ${size} bytes, got ${text.length - size} more`);
        count(Number(text.slice(9, 12)));
        text = "";
        send();
    });
    socket.on("error", () => { }); // closes below
    socket.on("close", () => {
        open.delete(socket);
        if (isOver)
            return;
        unanswered += 1;
        failures += 1;
        setTimeout(() => openConnection(at), 10); // a server that refuses must not keep this one busy
    });
}
function count(status) {
    answers += 1;
    if (status >= 200 && status < 300)
        return;
    failures += 1;
    if (status !== 503)
        strange += 1;
}
// Each connection starts with another request, so that all kinds are in flight at any time.
for (let each = 0; each < Number(connections); each += 1)
    openConnection(each);
setTimeout(() => {
    isOver = true;
    for (const socket of open)
        socket.destroy();
    process.stdout.write(`${JSON.stringify({ answersPerSecond: answers / Number(seconds), failures, unanswered, strange })}\n`);
}, Number(seconds) * 1_000);
//# sourceMappingURL=mixed-load.js.map