import { connect } from "node:net";
/** Ends an exchange: its answer is unique and closes the connection, so no test waits for a timeout. */
const farewell = "GET /nodes/farewell/primary HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
/**
 * Turns of the event loop without a byte after which the server, which runs in this process, has processed all that it
 * read.
 */
const quietTurns = 12;
/**
 * Writes pieces to a server in this process, each when the server has reacted to the one before it, then the farewell,
 * which requests the end of the connection. A server that still reads answers the farewell last. So its answer shows
 * that the connection was open until then.
 *
 * A server that closes while bytes of its client are unread sends a reset, which may overtake what it wrote before.
 * Nothing is written before everything was read, so no exchange loses bytes to that.
 */
export function exchange(port, pieces) {
    return new Promise((resolve, reject) => {
        const chunks = [];
        const socket = connect({ port, host: "127.0.0.1", noDelay: true });
        let [isConnected, isEnded] = [false, false];
        socket.on("data", (chunk) => chunks.push(chunk));
        socket.on("end", () => (isEnded = true));
        // A reset closes a connection too.
        socket.on("error", (error) => {
            if (!isConnected)
                reject(error);
        });
        socket.on("close", () => resolve(exchangeOf(Buffer.concat(chunks).toString("latin1"))));
        const write = (at) => {
            if (isEnded || socket.destroyed)
                return;
            if (at < pieces.length)
                socket.write(pieces[at] ?? Buffer.alloc(0), () => whenQuiet(chunks, () => write(at + 1)));
            else
                socket.end(farewell);
        };
        socket.on("connect", () => {
            isConnected = true;
            write(0);
        });
    });
}
/** Calls back when no chunk has arrived for `quietTurns` turns of the event loop. */
function whenQuiet(chunks, then) {
    let [count, left] = [chunks.length, quietTurns];
    const turn = () => {
        if (chunks.length !== count)
            [count, left] = [chunks.length, quietTurns];
        left -= 1;
        if (left > 0)
            setImmediate(turn);
        else
            then();
    };
    turn();
}
const farewellAnswer = /HTTP\/1\.1 400 bad_request node\r\n(?:[^\r\n]+\r\n)*Connection: close\r\n\r\n\{"error":"bad_request"[^{}]*"farewell\\""\}$/;
function exchangeOf(bytes) {
    return farewellAnswer.test(bytes)
        ? { bytes: bytes.replace(farewellAnswer, ""), fate: "open" }
        : { bytes, fate: "closed" };
}
//# sourceMappingURL=raw-client.js.map