import { type Answer, json } from "./api/answer.ts";
import { type ControlReply, problem } from "./api/control.ts";
import { faultIndex } from "./api/fault-index.ts";
import type { SimulatedRequest } from "./api/request.ts";
import { NodeServer } from "./api/server.ts";
import type { Simulator } from "./simulator.ts";

/** The port that controls the faults of simulated clusters. It stays open whichever node is killed. */
export interface FaultControl {
  readonly url: string;
  /** Resolves when the port is closed. */
  stop(): Promise<void>;
}

/**
 * Serves the control of simulated clusters on 127.0.0.1: `GET /` lists the faults, `/sim` is as on the port of each
 * node. Where there are several clusters, the path names one: `/sim/{cluster}/{node}/{fault}`; `POST /sim/heal` heals
 * them all. Answers are text for people; `Accept: application/json` gets the documents.
 * @param port 0: any free port
 * @throws Error with the code EADDRINUSE if the port is taken
 */
export async function startFaultControl(clusters: readonly Simulator[], port: number): Promise<FaultControl> {
  const server: NodeServer = new NodeServer({
    host: "127.0.0.1",
    keepAlive: true,
    fault: () => ({ kind: "none" }),
    answer: (request) => answer(clusters, request, `http://127.0.0.1:${String(server.port)}`),
  });
  await server.open(port);
  return { url: `http://127.0.0.1:${String(server.port)}`, stop: () => server.close() };
}

async function answer(clusters: readonly Simulator[], request: SimulatedRequest, url: string): Promise<Answer> {
  const isSole = clusters.length === 1;
  if (request.head !== "sim") {
    const controlled = clusters.map(({ scope, nodes }) => ({
      path: isSole ? "" : `/${scope}`,
      nodes: nodes.map(({ name }) => name),
    }));
    const index = faultIndex(url, controlled);
    return plain(request.path === "/" ? 200 : 404, index);
  }
  const { status, document, text, undo } = await controlOf(clusters, request);
  const isModel = request.method === "GET" && status === 200;
  if (isModel || request.accept.includes("json")) return json(status, document);
  return plain(status, undo === null ? `${text}\n` : `${text}\nUndo: curl -X POST ${url}${undo}\n`);
}

/** Passes the request on to the cluster that its path names; the name is left out for the cluster. */
async function controlOf(clusters: readonly Simulator[], request: SimulatedRequest): Promise<ControlReply> {
  const [sole] = clusters;
  const [, , name, ...rest] = request.path.replace(/^\/*/, "/").split("/");
  const named = clusters.find(({ scope }) => scope === name);
  if (named !== undefined) {
    const reply = await named.control({ ...request, path: ["/sim", ...rest].join("/") });
    return { ...reply, undo: reply.undo?.replace("/sim", `/sim/${named.scope}`) ?? null };
  }
  if (clusters.length === 1 && sole !== undefined) return sole.control(request);
  if (name !== undefined && name !== "" && name !== "heal")
    return problem(
      404,
      `the path must be /sim/{cluster}/{node}/{fault} with one of these clusters: ${scopes(clusters)}`,
    );
  const replies = await Promise.all(clusters.map((cluster) => cluster.control(request)));
  return {
    status: Math.max(...replies.map(({ status }) => status)),
    document: { clusters: replies.map(({ document }) => document) },
    text: replies.map(({ text }) => text).join("\n"),
    undo: null,
  };
}

function scopes(clusters: readonly Simulator[]): string {
  return clusters.map(({ scope }) => scope).join(", ");
}

function plain(status: number, body: string): Answer {
  return { kind: "full", status, contentType: "text/plain; charset=utf-8", body };
}
