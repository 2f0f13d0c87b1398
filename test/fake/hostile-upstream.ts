import { createServer, type ServerResponse } from "node:http";
import type { TestContext } from "node:test";
import { gzipSync } from "node:zlib";
import { emptyCluster } from "../../src/core/cluster/empty-cluster.ts";
import { parseReport } from "../../src/core/cluster/documents/report.ts";
import { neverProbed } from "../../src/core/cluster/observation.ts";
import { sentStateOf, stateForm } from "../../src/features/follow/feed/cluster-state-schema.ts";
import { writtenState } from "../../src/features/follow/feed/state-values.ts";
import { withNodes } from "../../src/core/health/observe/membership.ts";
import { listenDuringTest } from "./listen.ts";

/** A node as a hostile upstream tells of it. */
export interface ToldNode {
  readonly name: string;
  readonly api: string;
  readonly isLeader: boolean;
  readonly isFixed: boolean;
}

/** One message as a line of a feed. */
export function feedLine(message: object): Buffer {
  return gzipSync(`${JSON.stringify(message)}\n`);
}

/**
 * Opens an upstream that tells a follower of cluster `demo` what somebody made up, as an owner tells what it knows: in
 * full, then every 100 ms that all of it was just seen again.
 * @returns its base address
 */
export async function openHostileUpstream(context: TestContext, nodes: readonly ToldNode[]): Promise<string> {
  const streams = new Set<ServerResponse>();
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (text: Buffer) => (body += text.toString()));
    request.on("end", () => {
      const { token = 0 } = JSON.parse(body);
      if (request.url === "/feed") begin(response, { nodes, token });
      for (const stream of streams) stream.write(feedLine({ echo: { token, ...clock() } }));
      if (request.url === "/feed") {
        streams.add(response);
        response.on("close", () => streams.delete(response));
      } else response.end();
    });
  });
  const url = `http://127.0.0.1:${await listenDuringTest(context, server)}`;
  let seq = 0;
  const timer = setInterval(() => {
    seq += 1;
    const changes = nodes.map((node) => statusOf(node));
    for (const stream of streams) stream.write(feedLine({ changes, seq, ...clock() }));
  }, 100);
  context.after(() => clearInterval(timer));
  return url;
}

function begin(
  response: ServerResponse,
  { nodes, token }: { readonly nodes: readonly ToldNode[]; readonly token: number },
) {
  const stream = { version: "9", instance: "x", stream: "s", group: "g", resumed: false, token, refused: [] };
  response.writeHead(200).write(feedLine({ hello: { ...stream, ...clock() } }));
  const state = JSON.parse(writtenState(sentStateOf(toldCluster(nodes))));
  response.write(feedLine({ full: { cluster: "demo", form: stateForm, state, ...clock() } }));
  response.write(feedLine({ ready: true }));
}

function clock(): { readonly at: number; readonly added: number } {
  return { at: performance.now(), added: 0 };
}

function toldCluster(nodes: readonly ToldNode[]) {
  const told = nodes.map((each) => {
    const { name, api, isFixed, isLeader } = each;
    const unknown = { exporter: null, isArchiveFed: false, zone: null, isMemberFixed: isFixed };
    const database = { host: "127.0.0.1", port: 5432 };
    const text = documentOf(each);
    return {
      ...neverProbed({ ...unknown, name, member: name, api, database, isFixed }),
      proof: "settled" as const,
      report: parseReport(JSON.parse(text), text) ?? null,
      hasLock: isLeader,
      sentAtMs: performance.now(),
      listedAtMs: performance.now(),
    };
  });
  const cluster = { ...emptyCluster({ name: "demo", scope: null, discover: [] }) };
  return withNodes(cluster, told);
}

function statusOf(node: ToldNode): object {
  return {
    cluster: "demo",
    kind: "status",
    node: node.name,
    ageMs: 0,
    lock: node.isLeader,
    text: documentOf(node),
  };
}

function documentOf({ name, isLeader }: ToldNode): string {
  const position = isLeader ? { location: 1_000 } : { received_location: 1_000, replayed_location: 1_000 };
  return JSON.stringify({
    state: "running",
    role: isLeader ? "primary" : "replica",
    timeline: 1,
    database_system_identifier: "7000000000000000001",
    patroni: { version: "4.0.4", scope: "demo", name },
    xlog: { ...position, paused: false },
  });
}
