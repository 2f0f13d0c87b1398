import { Server as HttpServer } from "node:http";
import { Server as HttpsServer } from "node:https";
import type { Server } from "node:net";
import type { TestContext } from "node:test";

/** Listens on a free port of 127.0.0.1 until the test is over. */
export async function listen(context: TestContext, server: Server): Promise<number> {
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  context.after(() => {
    server.close();
    if (server instanceof HttpServer || server instanceof HttpsServer) server.closeAllConnections();
  });
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}
