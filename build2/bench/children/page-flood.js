/**
 * `page-flood PORT`: floods operator pages. Two connections pipeline 250 requests for /incident repeatedly, sixteen
 * request one page after the other without a pause. A connection that is closed is opened again at once. Prints a line
 * once all run. Answers every line on stdin with the number of bytes received so far. Ends with stdin or after a
 * minute.
 */
import { connect } from "node:net";
import { createInterface } from "node:readline";
const port = Number(process.argv[2]);
const pages = [
    "/incident?cluster=c0",
    "/status",
    "/explain?node=c0/pg1&check=/replica",
    "/clusters/c0/nodes/pg1/verdicts",
];
const pipelined = requestFor("/incident?cluster=c0").repeat(250);
let bytes = 0;
function requestFor(page) {
    return `GET ${page} HTTP/1.1\r\nHost: a\r\n\r\n`;
}
/** Opens a connection, and another one whenever it is closed. */
function keepOpen(onOpen, onAnswer) {
    const socket = connect({ port, host: "127.0.0.1" });
    socket.setEncoding("latin1");
    socket.once("connect", () => onOpen(socket));
    socket.on("data", (text) => {
        bytes += text.length;
        onAnswer(socket, text);
    });
    socket.on("error", () => { }); // rolecall may close it
    socket.once("close", () => setImmediate(() => keepOpen(onOpen, onAnswer)));
}
for (let at = 0; at < 2; at += 1) {
    let unanswered = 0;
    const send = (socket) => {
        unanswered = 250;
        socket.write(pipelined);
    };
    keepOpen(send, (socket, text) => {
        unanswered -= text.split("HTTP/1.1 ").length - 1;
        if (unanswered <= 0)
            send(socket);
    });
}
for (let at = 0; at < 16; at += 1) {
    const request = requestFor(pages[at % pages.length] ?? "/status");
    keepOpen((socket) => socket.write(request), 
    // The head of an answer. The rest of the previous one is read with it.
    (socket, text) => void (text.includes("HTTP/1.1 ") && socket.write(request)));
}
setTimeout(() => process.stdout.write("flooding\n"), 200);
setTimeout(() => process.exit(0), 60_000);
createInterface(process.stdin)
    .on("line", () => process.stdout.write(`${bytes}\n`))
    .on("close", () => process.exit(0));
//# sourceMappingURL=page-flood.js.map