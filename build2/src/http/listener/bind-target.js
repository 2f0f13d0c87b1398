import { Server, Socket } from "node:net";
import { handleUnder } from "../fast-path/node-internals.js";
/** How many connections may wait to be accepted. */
const backlog = 4_096;
/**
 * Starts to listen.
 * @returns the port: a free one if the target's is 0
 * @throws the system's error, with its `code` (EADDRINUSE, EACCES, EADDRNOTAVAIL)
 */
export function listenOn(server, target) {
    return new Promise((resolve, reject) => {
        const onListening = () => {
            server.removeListener("error", reject);
            // A failing accept (no file descriptor left) must not end the process.
            server.on("error", () => { });
            resolve(portOf(server.address()));
        };
        server.once("error", reject);
        if ("handle" in target)
            server.listen(target.handle, backlog, onListening);
        else if ("fd" in target)
            server.listen({ fd: target.fd, backlog }, onListening);
        else
            server.listen({ host: target.address, port: target.port, backlog }, onListening);
    });
}
/**
 * The bare socket under a listening server, to be sent to another process with `process.send`. A process that receives
 * it as a server accepts connections at once. A process that receives it bare only keeps the port open until it listens
 * on it.
 * @returns `undefined` if the server does not listen
 */
export function bareSocket(server) {
    const handle = handleUnder(server);
    return isSendHandle(handle) ? handle : undefined;
}
/** The bare socket of a file descriptor that this process inherited. */
export function socketOfDescriptor(fd) {
    const handle = handleUnder(new Socket({ fd, readable: false, writable: false }));
    return isSendHandle(handle) ? handle : undefined;
}
/** Closes the copy of a bare socket that this process has. */
export function closeBareSocket(handle) {
    if (handle instanceof Server || handle instanceof Socket || handle === undefined)
        return;
    if ("close" in handle && typeof handle.close === "function")
        handle.close();
}
/** Node sends any object with a descriptor, and throws if it cannot. */
function isSendHandle(value) {
    return typeof value === "object" && value !== null && "fd" in value;
}
function portOf(address) {
    return typeof address === "object" && address !== null ? address.port : 0;
}
//# sourceMappingURL=bind-target.js.map