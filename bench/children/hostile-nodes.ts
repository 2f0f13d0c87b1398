/**
 * `hostile-nodes KIND NODES`: the nodes of one cluster. They answer as real ones do until a line `loud` on stdin; then
 * GET /leader has a document of this kind: `chunks`, 1 MB in chunks of one byte; `text`, one long string; `objects`,
 * thousands of small objects. No document is like another. `quiet` ends it. Writes their addresses, and a line for each
 * line on stdin: the count of hostile answers since the last one. Ends with stdin.
 */
import { createServer, type AddressInfo, type Socket } from "node:net";
import { createInterface } from "node:readline";

const [kind = "chunks", nodes = "30"] = process.argv.slice(2);
/** Just below the largest status document that is read. */
const documentBytes = 250_000;
const chunks = Buffer.from("1\r\nx\r\n".repeat(10_000));
const writesPerDocument = 100;

let isLoud = false;
let answers = 0;
let serial = 0;

function honestDocument(at: number): string {
  const isLeader = at === 0;
  const xlog = isLeader
    ? '"location": 67108864'
    : '"received_location": 67108864, "replayed_location": 67108864, "replayed_timestamp": null, "paused": false';
  return `{"state": "running", "role": "${isLeader ? "primary" : "replica"}", "server_version": 150008, "xlog": {${xlog}}, "timeline": 1, "database_system_identifier": "7300000000000000999", "patroni": {"version": "4.1.4", "scope": "c1", "name": "pg${at + 1}"}}`;
}

function hostileDocument(at: number): string {
  serial += 1;
  const opened = `${honestDocument(at).slice(0, -1)}, "more": `;
  if (kind === "text") return `${opened}"${String(serial).padStart(documentBytes, "y")}"}`;
  return `${opened}[${`{"a":${serial}},`.repeat(documentBytes / 16)}0]}`;
}

function sendChunks(socket: Socket): void {
  socket.write("HTTP/1.1 503 Service Unavailable\r\nTransfer-Encoding: chunked\r\n\r\n");
  let left = writesPerDocument;
  const send = (): void => {
    while (left > 0 && !socket.destroyed) {
      left -= 1;
      if (!socket.write(chunks)) {
        socket.once("drain", send);
        return;
      }
    }
    socket.end("0\r\n\r\n");
  };
  send();
}

function answer(socket: Socket, request: string, at: number): void {
  const path = request.slice(4, request.indexOf(" ", 4));
  const status = path === "/leader" && at > 0 ? "503 Service Unavailable" : "200 OK";
  const isHostile = isLoud && path === "/leader";
  if (isHostile) answers += 1;
  if (isHostile && kind === "chunks") {
    sendChunks(socket);
    return;
  }
  const others: Record<string, string> = {
    "/cluster": clusterDocument(),
    "/config": '{"ttl": 30, "loop_wait": 10, "retry_timeout": 10}',
    "/history": "[]",
    "/failsafe": "{}",
  };
  const body = others[path] ?? (isHostile ? hostileDocument(at) : honestDocument(at));
  socket.end(`HTTP/1.0 ${status}\r\nContent-Type: application/json\r\n\r\n${body}`);
}

function clusterDocument(): string {
  const members = apis.map(({ name, url }, at) => ({
    name,
    role: at === 0 ? "leader" : "replica",
    state: "running",
    api_url: `${url}/patroni`,
    host: "127.0.0.1",
    port: 5432,
    timeline: 1,
    lag: 0,
  }));
  return JSON.stringify({ members });
}

async function serve(at: number): Promise<{ name: string; url: string }> {
  const server = createServer({ noDelay: true }, (socket) => {
    socket.on("error", () => {}); // rolecall closes connections
    // Each request arrives as one chunk, because undici writes it so.
    socket.on("data", (chunk) => answer(socket, chunk.toString("latin1"), at));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", 64, resolve);
  });
  return { name: `pg${at + 1}`, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

const apis = await Promise.all(Array.from({ length: Number(nodes) }, (_, at) => serve(at)));
process.stdout.write(`${JSON.stringify(apis)}\n`);
createInterface(process.stdin)
  .on("line", (line) => {
    isLoud = line === "loud";
    process.stdout.write(`${answers}\n`);
    answers = 0;
  })
  .on("close", () => process.exit(0));
