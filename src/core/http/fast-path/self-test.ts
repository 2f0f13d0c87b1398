import { CheckTurns } from "../admission/check-turns.ts";
import { errorMessage } from "../../cluster/values/error-message.ts";
import { createServer, type Server } from "node:http";
import type { CachedResponses } from "../message/handler.ts";
import { renderReply } from "../message/http1-serializer.ts";
import { jsonReply, type Reply } from "../message/reply.ts";
import { FastConnections } from "./fast-connections.ts";
import { FastPathMonitor } from "./fast-path-monitor.ts";
import { exchange, LateReader, type LoopbackAddress } from "./self-test-client.ts";
import type { TcpIo } from "./tcp-io.ts";

/** How long the self-test may take, in ms. A busy machine takes some 100 ms. */
const timeoutMs = 10_000;
const idleTimeoutMs = 60_000;
/**
 * How many large responses the late reader requests at most without reading any. On most machines the buffers of the
 * sockets hold fewer.
 */
const largeRequestsMax = 256;

const small: Reply = jsonReply({ code: 200, phrase: "OK" }, '{"self":"test"}');
const largeReply: Reply = { ...small, body: Buffer.alloc(65_536, "large ") };
const kept = "GET /small HTTP/1.1\r\nHost: a\r\n\r\n";
const last = "GET /small HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
const large = "GET /large HTTP/1.1\r\nHost: a\r\n\r\n";
/** A request that is not cached. */
const other = "GET /other HTTP/1.1\r\nHost: a\r\n\r\n";

/**
 * Connections that are answered from the cache, that fall back at once, and that fall back after answers from the
 * cache.
 */
const scripts: readonly (readonly string[])[] = [
  [kept, kept, kept, last],
  [other, kept, last],
  [kept, kept, other, kept, last],
];
const requestsMin = 6;
const fallbacksMin = 2;

/**
 * Proves the fast path in this process: a server on loopback gets the same requests without it and with it, and must
 * write the same bytes. The server is one of its own, as other processes may accept the connections of a listener.
 * @returns what differs, or `null` if nothing does
 */
export async function selfTest(io: TcpIo): Promise<string | null> {
  const server = createServer({ keepAliveTimeout: idleTimeoutMs, requireHostHeader: false, noDelay: true });
  server.on("request", (_, response) => {
    response.sendDate = false;
    const headers = [...small.headers, "Content-Length", String(small.body.length)];
    response.writeHead(small.status, small.phrase, headers).end(small.body);
  });
  const aborter = new AbortController();
  const timer = setTimeout(() => aborter.abort(`no result within ${timeoutMs / 1_000} s`), timeoutMs);
  try {
    const address = await listenOnLoopback(server);
    return await compare({ io, server, address, signal: aborter.signal });
  } catch (error) {
    return errorMessage(error);
  } finally {
    clearTimeout(timer);
    server.close();
    server.closeAllConnections();
  }
}

interface Comparison {
  readonly io: TcpIo;
  readonly server: Server;
  readonly address: LoopbackAddress;
  readonly signal: AbortSignal;
}

async function compare({ io, server, address, signal }: Comparison): Promise<string | null> {
  const run = (): Promise<string[]> => Promise.all(scripts.map((script) => exchange(script, address, signal)));
  const expected = await run();
  let problem: string | null = null;
  const monitor = new FastPathMonitor((unexpected) => (problem = unexpected));
  const connections = new FastConnections({
    io,
    monitor,
    limits: { headerTimeoutMs: timeoutMs, requestTimeoutMs: timeoutMs, idleTimeoutMs },
    turns: new CheckTurns(),
    limiter: { acquire: (peer) => peer, release: () => {} },
    cached: () => cachedResponses,
    leavesOut: () => false,
    onContinued: () => {},
    onError: () => {},
  });
  try {
    if (!connections.attach(server)) return "the server has no TCP handle";
    const got = await run();
    for (const [at, bytes] of got.entries())
      if (bytes !== expected[at])
        return `a response is ${JSON.stringify(bytes)} instead of ${JSON.stringify(expected[at])}`;
    const { requests, fallbacks } = monitor.counts;
    if (requests < requestsMin || fallbacks.not_cached < fallbacksMin)
      return `it answered ${requests} requests and fell back ${fallbacks.not_cached} times instead of ${requestsMin} and ${fallbacksMin}`;
    return (await compareLateReader({ address, signal, monitor })) ?? problem;
  } finally {
    connections.close();
  }
}

/**
 * A client that reads late gets all responses in full: those that the system took, one that waits, and one after it.
 */
async function compareLateReader({
  address,
  signal,
  monitor,
}: Pick<Comparison, "address" | "signal"> & { readonly monitor: FastPathMonitor }): Promise<string | null> {
  const reader = LateReader.open(address, signal);
  let sent = 0;
  while (sent < largeRequestsMax && monitor.counts.fallbacks.slow_reader === 0 && !signal.aborted) {
    const { requests } = monitor.counts;
    await reader.request(large, () => monitor.counts.requests > requests);
    sent += 1;
  }
  const received = await reader.readToEnd(last);
  const expected = sent * responses.large.length + responses.last.length;
  return received === expected ? null : `a slow reader got ${received} bytes instead of ${expected}`;
}

const responses = {
  kept: rendered(small, true),
  last: rendered(small, false),
  large: rendered(largeReply, true),
};

const cachedResponses: CachedResponses = {
  find: (text) => {
    if (text === kept) return { bytes: responses.kept, keepsConnection: true };
    if (text === last) return { bytes: responses.last, keepsConnection: false };
    return text === large ? { bytes: responses.large, keepsConnection: true } : null;
  },
};

function rendered(reply: Reply, keepsConnection: boolean): Buffer {
  return renderReply(reply, { method: "GET", keepsConnection, idleTimeoutMs });
}

/** @throws Error if there is neither an IPv4 nor an IPv6 loopback address */
async function listenOnLoopback(server: Server): Promise<LoopbackAddress> {
  await listen(server, "127.0.0.1").catch(() => listen(server, "::1"));
  server.on("error", () => {}); // an accept that fails is a self-test without a result
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("the server has no port on loopback");
  return { host: address.address, port: address.port };
}

function listen(server: Server, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host, port: 0 }, () => {
      server.removeListener("error", reject);
      resolve();
    });
  });
}
