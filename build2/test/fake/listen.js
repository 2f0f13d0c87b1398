import { Server as HttpServer } from "node:http";
import { Server as HttpsServer } from "node:https";
/** Listens on a free port until the test is over. */
export async function listenDuringTest(context, server, address = "127.0.0.1") {
    await new Promise((resolve) => void server.listen(0, address, resolve));
    context.after(() => {
        server.close();
        if (server instanceof HttpServer || server instanceof HttpsServer)
            server.closeAllConnections();
    });
    return portOf(server);
}
/** Listens on a free port of 127.0.0.1 until it is closed; closing cuts what is still connected. */
export async function listenUntilClosed(server) {
    await new Promise((resolve) => void server.listen(0, "127.0.0.1", resolve));
    const close = () => new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
    });
    return { port: portOf(server), close };
}
export function portOf(server) {
    // A listening TCP server has an AddressInfo (node:net).
    return server.address().port;
}
//# sourceMappingURL=listen.js.map