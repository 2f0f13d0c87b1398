/**
 * `abusers PORT`: hostile and broken clients. 200 connections drip a head byte by byte without end and are opened again
 * when closed; 400 more clients per second send garbage, a head that is too large, or a reset in the middle of one.
 * Prints a line once all drip. Answers every line on stdin with the number of clients so far. Ends with stdin or after
 * a minute.
 */
import { connect } from "node:net";
import { createInterface } from "node:readline";
const port = Number(process.argv[2]);
const drippingCount = 200;
const bangMs = 10;
const bangsPerTick = 4;
/** The maximum number of hostile clients at a time. Further ones wait. */
const openMax = 1_000;
let clients = 0;
let open = 0;
let begun = 0;
const dripping = new Set();
const head = "GET /clusters/c0/nodes/pg1/primary HTTP/1.1\r\nHost: a\r\n";
const kinds = [
    (socket) => socket.end(Buffer.from(Array.from({ length: 512 }, (_, at) => (at * 167 + clients) % 256))),
    (socket) => socket.write(`${head}X-Large: ${"a".repeat(65_536)}\r\n\r\n`),
    (socket) => {
        socket.write(head);
        setImmediate(() => socket.resetAndDestroy());
    },
    (socket) => socket.end("GET / HTTP/9.9\r\nContent-Length: -1\r\nTransfer-Encoding: chunked, chunked\r\n\r\n"),
];
function openConnection(act) {
    const socket = connect({ port, host: "127.0.0.1" });
    clients += 1;
    open += 1;
    socket.once("connect", () => act(socket));
    socket.on("error", () => { }); // rolecall may close it
    socket.once("close", () => (open -= 1));
    socket.setTimeout(5_000, () => socket.destroy());
    return socket.resume();
}
function drip() {
    const socket = openConnection(() => {
        socket.write("GET /primary HTTP/1.1\r\nX: ");
        begun += 1;
        if (begun === drippingCount)
            process.stdout.write("abusing\n");
    });
    dripping.add(socket);
    socket.once("close", () => dripping.delete(socket));
}
for (let at = 0; at < drippingCount; at += 1)
    drip();
setInterval(() => {
    for (const socket of dripping)
        socket.write("a");
    for (let missing = Math.min(drippingCount - dripping.size, openMax - open); missing > 0; missing -= 1)
        drip();
}, 500);
setInterval(() => {
    for (let bang = 0; bang < bangsPerTick && open < openMax; bang += 1)
        openConnection(kinds[clients % kinds.length] ?? drip);
}, bangMs);
setTimeout(() => process.exit(0), 60_000);
createInterface(process.stdin)
    .on("line", () => process.stdout.write(`${clients}\n`))
    .on("close", () => process.exit(0));
//# sourceMappingURL=abusers.js.map