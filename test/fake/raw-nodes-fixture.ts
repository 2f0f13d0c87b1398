import { connect } from "node:net";
import type { TestContext } from "node:test";
import { sendRequest, type HttpAnswer, type RequestParts } from "./http-request.ts";
import { jsonAnswer, serveRawAnswers, type RawAnswer, type RawRequest } from "./raw-node.ts";
import { freePort } from "./free-port.ts";
import { writeConfigFile } from "./config-file.ts";
import { RolecallProcess } from "./rolecall-process.ts";
import { until } from "./until.ts";
import { answerProbe } from "./node-documents.ts";

/** rolecall as a separate process in front of two nodes and an exporter whose answers the test decides. */
export interface RawNodesFixture {
  readonly rolecall: RolecallProcess;
  readonly port: number;
  /** Sends a request to the listener that forwards management calls. */
  request(path: string, parts?: RequestParts): Promise<HttpAnswer>;
  /** Sends a request to the exporter listener. */
  requestExporter(path: string, parts?: RequestParts): Promise<HttpAnswer>;
  requestAdmin(path: string, parts?: RequestParts): Promise<HttpAnswer>;
  /** The value of one of rolecall's metrics; `0` if it is missing. */
  metric(name: string): Promise<number>;
  /** Opens a connection. @returns a function that sends a check on it, and rejects once the connection has ended */
  holdConnection(): Promise<() => Promise<string>>;
}

/**
 * Starts it and waits for a leader.
 * @param options `answer` answers what is no probe, `probes` what is; where one gives `null` the node answers well
 */
export async function rawNodesFixture(
  context: TestContext,
  options: {
    readonly workers: number;
    readonly answer: (request: RawRequest) => RawAnswer | null;
    readonly probes?: (request: RawRequest) => RawAnswer | null;
  },
): Promise<RawNodesFixture> {
  const nodeOf = (name: string): ReturnType<typeof serveRawAnswers> =>
    serveRawAnswers(context, (request) => {
      const probe =
        request.method === "GET"
          ? answerProbe({ name, leader: "pg1", members: new Map(), fields: {} }, request.path)
          : undefined;
      if (probe === undefined) return options.answer(request) ?? jsonAnswer(200, "fine");
      return options.probes?.(request) ?? jsonAnswer(probe.status, probe.document ?? {});
    });
  const [pg1, pg2] = await Promise.all([nodeOf("pg1"), nodeOf("pg2")]);
  const exporter = await serveRawAnswers(context, (request) => options.answer(request) ?? jsonAnswer(200, "fine"));
  const [port, admin, exporting] = [await freePort(), await freePort(), await freePort()];
  const file = writeConfigFile(
    context,
    `clusters:
  - name: demo
    nodes:
      - { name: pg1, api: "${pg1.origin}" }
      - { name: pg2, api: "${pg2.origin}", exporter: "${exporter.origin}" }
probe:
  { interval: 20ms, timeout: 500ms, max_age: 5s, connect_timeout: 400ms,
    cluster_interval: 40ms, config_interval: 40ms, metrics_interval: 40ms }
listen:
  - { port: ${port}, management: on, limits: { calls_in_flight: 1000, fetches: 1000, call_timeout: 2s } }
  - { port: ${admin}, dialect: admin }
  - { port: ${exporting}, dialect: exporter }
workers: ${options.workers}
drain: 0s
`,
  );
  const running = new RolecallProcess(context, ["serve", "--config", file]);
  await running.waitForLog("listening");
  if (options.workers > 0) await running.waitForLog("worker started", options.workers);
  const at = (place: number) => (path: string, parts?: RequestParts) =>
    sendRequest(`http://127.0.0.1:${place}${path}`, parts);
  const edge: RawNodesFixture = {
    rolecall: running,
    port,
    request: at(port),
    requestExporter: at(exporting),
    requestAdmin: at(admin),
    metric: async (name) => {
      const { body } = await at(admin)("/metrics");
      const lines = body.split("\n").filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`));
      return lines.reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
    },
    holdConnection: () => hold(port),
  };
  await until("a fit primary", async () => (await edge.request("/nodes/pg1/primary")).status === 200);
  return edge;
}

async function hold(port: number): Promise<() => Promise<string>> {
  const socket = connect(port, "127.0.0.1");
  let received = "";
  let settle: { resolve: (line: string) => void; reject: (error: Error) => void } | null = null;
  socket.setEncoding("latin1");
  socket.on("error", () => {}); // "close" follows
  socket.on("data", (text: string) => {
    received += text;
    const [, line, length] = /^(HTTP[^\r]*)\r\n(?:[^\r]+\r\n)*?Content-Length: (\d+)\r\n/i.exec(received) ?? [];
    const head = received.indexOf("\r\n\r\n");
    if (line === undefined || head < 0 || received.length < head + 4 + Number(length)) return;
    received = "";
    settle?.resolve(line);
  });
  socket.on("close", () => settle?.reject(new Error("a held connection was ended")));
  await new Promise<void>((resolve) => void socket.once("connect", () => resolve()));
  return () =>
    new Promise((resolve, reject) => {
      settle = { resolve, reject };
      if (socket.destroyed) reject(new Error("a held connection was ended"));
      socket.write("GET /nodes/pg1/primary HTTP/1.1\r\nHost: a\r\n\r\n");
    });
}
