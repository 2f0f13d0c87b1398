/**
 * `constant-nodes CLUSTERS NODES keep|close still|moving|turning [FIRST]`: nodes with a low cost of their own, so that
 * thousands fit beside the measured program. Their clusters are `cFIRST` (`c0`) upwards. Every document is prepared. With
 * `moving`, WAL positions differ from answer to answer, and the leader key is seen anew every 10 s. With `turning`,
 * replicas start in every second answer, too. Writes their addresses. Answers every line on stdin: `gaps` with the gaps
 * between two probes of a node since the last such line, as JSON; `promote` with the time of day in ms at which the next
 * member of every cluster has become its primary; any other with the count of its answers so far. Ends with stdin.
 */
import { createServer, type AddressInfo } from "node:net";
import { createInterface } from "node:readline";
import type { ProbeGaps } from "../nodes.ts";

const [clusters = "1", nodes = "3", connections = "close", motion = "still", first = "0"] = process.argv.slice(2);
let position = 67_108_864;
/** Which member of each cluster leads, and on which timeline. */
let leader = 0;
let timeline = 1;
let switchpoint = position;
let answers = 0;
let gaps = 0;
let worstGapMs = 0;
const places: Place[] = [];

interface Place {
  readonly cluster: number;
  readonly at: number;
  /** How many status documents it has answered. */
  turn: number;
  /** When it was probed last, or started. */
  probedMs: number;
}

function statusOf(place: Place): string {
  const { at } = place;
  const cluster = Number(first) + place.cluster;
  const isLeader = at === leader;
  if (motion !== "still") position += 8;
  place.turn += 1;
  const state = motion === "turning" && !isLeader && place.turn % 2 === 0 ? "starting" : "running";
  const seen = motion === "still" ? "" : `"dcs_last_seen": ${Math.floor(Date.now() / 10_000) * 10}, `;
  const xlog = isLeader
    ? `"location": ${position}`
    : `"received_location": ${position}, "replayed_location": ${position}, "replayed_timestamp": "2026-01-01 10:00:00.000000+00:00", "paused": false`;
  return `{"state": "${state}", "postmaster_start_time": "2026-01-01 09:00:00.000000+00:00", "role": "${isLeader ? "primary" : "replica"}", "server_version": 150008, "xlog": {${xlog}}, "timeline": ${timeline}, "cluster_unlocked": false, ${seen}"database_system_identifier": "7300000000000000${String(cluster).padStart(3, "0")}", "patroni": {"version": "3.0.2", "scope": "c${cluster}"}}`;
}

function clusterOf(cluster: number): string {
  const members = (apis[cluster] ?? []).map(
    ({ name, url }, at) =>
      `{"name": "${name}", "role": "${at === leader ? "leader" : "replica"}", "state": "running", "api_url": "${url}/patroni", "host": "127.0.0.1", "port": 5432, "timeline": ${timeline}, "lag": 0}`,
  );
  return `{"members": [${members.join(", ")}]}`;
}

function historyText(): string {
  const lines = Array.from({ length: timeline - 1 }, (_, at) => [at + 1, switchpoint, "no recovery target specified"]);
  return JSON.stringify(lines);
}

/** Another member of every cluster leads from now on. @returns the time of day, in ms */
function promote(): number {
  leader = (leader + 1) % Number(nodes);
  timeline += 1;
  switchpoint = position;
  return Date.now();
}

function answer(request: string, place: Place): string {
  const path = request.slice(4, request.indexOf(" ", 4));
  const status = path === "/leader" && place.at !== leader ? "503 Service Unavailable" : "200 OK";
  const body =
    path === "/cluster"
      ? clusterOf(place.cluster)
      : path === "/config"
        ? '{"ttl": 30, "loop_wait": 10, "retry_timeout": 10}'
        : path === "/history"
          ? historyText()
          : path === "/failsafe"
            ? "{}"
            : statusOf(place);
  const head =
    connections === "keep"
      ? `HTTP/1.1 ${status}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`
      : `HTTP/1.0 ${status}\r\nServer: BaseHTTP/0.6 Python/3.11.2\r\n`;
  return `${head}Content-Type: application/json\r\n\r\n${path === "/liveness" && connections === "close" ? "" : body}`;
}

function countGap(place: Place): void {
  const nowMs = performance.now();
  gaps += 1;
  worstGapMs = Math.max(worstGapMs, nowMs - place.probedMs);
  place.probedMs = nowMs;
}

/** A node that is not probed any more has a gap too. */
function takeGaps(): ProbeGaps {
  const nowMs = performance.now();
  const taken = { count: gaps, worstMs: Math.max(worstGapMs, ...places.map(({ probedMs }) => nowMs - probedMs)) };
  gaps = 0;
  worstGapMs = 0;
  return taken;
}

function answerTo(line: string): string | number {
  if (line === "gaps") return JSON.stringify(takeGaps());
  return line === "promote" ? promote() : answers;
}

async function serve(cluster: number, at: number): Promise<{ name: string; url: string }> {
  const place = { cluster, at, turn: 0, probedMs: performance.now() };
  places.push(place);
  const server = createServer({ noDelay: true }, (socket) => {
    socket.on("error", () => {}); // clients often close connections
    // Each request arrives as one chunk, because undici writes it so.
    socket.on("data", (chunk) => {
      const request = chunk.toString("latin1");
      if (request.startsWith("GET /leader ")) countGap(place);
      const text = answer(request, place);
      answers += 1;
      if (connections === "keep") socket.write(text);
      else socket.end(text);
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", 64, resolve);
  });
  return { name: `pg${at + 1}`, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

const apis = await Promise.all(
  Array.from({ length: Number(clusters) }, (_, cluster) =>
    Promise.all(Array.from({ length: Number(nodes) }, (_unused, at) => serve(cluster, at))),
  ),
);
process.stdout.write(`${JSON.stringify(apis)}\n`);
createInterface(process.stdin)
  .on("line", (line) => process.stdout.write(`${answerTo(line)}\n`))
  .on("close", () => process.exit(0));
