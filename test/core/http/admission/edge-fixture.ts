import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import type { TestContext } from "node:test";
import { type ListenerAccess, unrestrictedAccess } from "../../../../src/core/config/model/listener-access-config.ts";
import { FastPathControl } from "../../../../src/core/http/fast-path/fast-path-control.ts";
import type { RejectedRequest } from "../../../../src/core/http/listener/listener-events.ts";
import { Listener } from "../../../../src/core/http/listener/listener.ts";
import type { ListenerHandler } from "../../../../src/core/http/message/handler.ts";
import { NodeApi } from "../../../../src/core/http/node-api/node-api.ts";
import { storeFixture } from "../../../fake/store-fixture.ts";

export const check = "GET /nodes/pg1/primary HTTP/1.0\r\n\r\n";

export interface Edge {
  readonly port: number;
  readonly rejected: RejectedRequest[];
  readonly addresses: string[];
  readonly fastRequests: () => number;
}

/** A listener for checks, with the fast path, and what it rejected. */
export async function openEdge(context: TestContext, parts: Partial<ListenerAccess> = {}): Promise<Edge> {
  const cluster = storeFixture();
  const rejected: RejectedRequest[] = [];
  const addresses: string[] = [];
  const api = new NodeApi(cluster.routingContext, cluster.apiContext());
  const access = { ...unrestrictedAccess, ...parts };
  const handle: ListenerHandler = (call) => {
    addresses.push(call.caller.address);
    return api.handle(call);
  };
  const handler = Object.assign(handle, { cached: api.cached(access.limits.idleTimeoutMs) });
  const listener = new Listener(handler, access, {
    onError: (error) => {
      throw error;
    },
    onRejected: (one) => rejected.push(one),
    onFiles: () => {},
  });
  const port = await listener.open({ address: "127.0.0.1", port: 0 });
  context.after(() => listener.close(0));
  const control = new FastPathControl({ mode: () => "force", onDisabled: () => {} });
  await listener.startFastPath(control);
  return { port, rejected, addresses, fastRequests: () => control.monitor.counts.requests };
}

/** Sends pieces on one connection, and reads to its end. */
export async function send(port: number, ...pieces: readonly (string | Buffer)[]): Promise<string> {
  const socket = connect({ port, host: "127.0.0.1", noDelay: true });
  socket.on("error", () => {});
  const [answer] = await Promise.all([text(socket), writeAll(socket, pieces)]);
  return answer;
}

export async function writeAll(socket: Socket, pieces: readonly (string | Buffer)[]): Promise<void> {
  for (const piece of pieces)
    await new Promise((resolve) =>
      socket.write(typeof piece === "string" ? Buffer.from(piece, "latin1") : piece, resolve),
    );
}
