import { connect } from "node:net";
import { type Simulator, type SimulatorOptions, startSimulator } from "../../../src/tools/simulator/simulator.ts";

/** A response with its raw bytes. */
export interface RawResponse {
  /** Everything received. */
  readonly raw: string;
  readonly line: string;
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly type: string | undefined;
  readonly body: string;
}

/**
 * Sends one request on a new connection with `Connection: close`. Without a body, it has no Content-Length. Rejects
 * after 10 s.
 */
export function call(
  url: string,
  { method = "GET", body }: { method?: string; body?: string | undefined } = {},
): Promise<RawResponse> {
  const { hostname, port, pathname, search } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port), signal: AbortSignal.timeout(10_000) });
    let raw = "";
    socket.setEncoding("utf8");
    socket.on("data", (chunk: string) => (raw += chunk));
    socket.on("error", reject);
    socket.on("end", () => resolve(read(raw)));
    const length = body === undefined ? "" : `Content-Length: ${String(Buffer.byteLength(body))}\r\n`;
    socket.write(
      `${method} ${pathname}${search} HTTP/1.1\r\nHost: ${hostname}\r\nConnection: close\r\n${length}\r\n${body ?? ""}`,
    );
  });
}

function read(raw: string): RawResponse {
  const split = raw.indexOf("\r\n\r\n");
  const [line = "", ...fields] = raw.slice(0, Math.max(0, split)).split("\r\n");
  const headers = new Map(
    fields.map((field) => [
      field.slice(0, field.indexOf(":")).toLowerCase(),
      field.slice(field.indexOf(":") + 1).trim(),
    ]),
  );
  return {
    raw,
    line,
    status: Number(line.split(" ")[1]),
    headers,
    type: headers.get("content-type"),
    body: raw.slice(split + 4),
  };
}

/**
 * Runs a test with three nodes on free ports. `speed`: the factor by which the simulator's clock is faster than real
 * time.
 */
export async function withSimulator(
  options: Partial<SimulatorOptions> & { readonly speed?: number },
  test: (simulator: Simulator) => Promise<void>,
): Promise<void> {
  const { speed = 1, ...rest } = options;
  const begin = Date.now();
  const nowMs = (): number => begin + (Date.now() - begin) * speed;
  const simulator = await startSimulator({ nodes: 3, port: 0, ttlMs: 20_000, loopWaitMs: 2000, nowMs, ...rest });
  try {
    await test(simulator);
  } finally {
    await simulator.stop();
  }
}
