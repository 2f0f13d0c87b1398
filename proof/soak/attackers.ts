import { connect, type Socket } from "node:net";
import type { Action } from "./plan.ts";

/** Attackers have an address of their own: limits of one address must not hit the checks. */
const attackersAddress = "127.0.0.9";
const head = "GET /clusters/c0/nodes/pg1/primary HTTP/1.1\r\nHost: a\r\n";
/** Connections at once: above the limit of one address. */
const idleCount = 130;
const attackersCount = 20;
const inventedCount = 400;

/** Attacks one listener for as long as the action lasts. */
export function attack({ variant, lastsMs, pick }: Action, ports: readonly number[]): string {
  const port = ports[pick % ports.length] ?? 0;
  const sockets = new Set<Socket>();
  const open = (act: (socket: Socket) => void): void => {
    const socket = connect({ port, host: "127.0.0.1", localAddress: attackersAddress });
    sockets.add(socket);
    socket.once("connect", () => act(socket));
    socket.on("error", () => {}).on("close", () => sockets.delete(socket));
    socket.resume();
  };
  const every = (ms: number, act: () => void): void => {
    const timer = setInterval(act, ms);
    setTimeout(() => clearInterval(timer), lastsMs);
  };
  const repeat = (act: (socket: Socket) => void): void =>
    every(1_000, () => {
      for (let at = 0; at < attackersCount; at += 1) open(act);
    });
  setTimeout(() => {
    for (const socket of sockets) socket.destroy();
  }, lastsMs + 2_000);
  switch (variant) {
    case "slowHeads":
      for (let at = 0; at < attackersCount; at += 1) open((socket) => socket.write("GET /primary HTTP/1.1\r\nX: "));
      every(500, () => sockets.forEach((socket) => socket.write("a")));
      break;
    case "half":
      repeat((socket) =>
        socket.write("POST /clusters/c0/switchover HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n{"),
      );
      break;
    case "huge":
      repeat((socket) => socket.write(`${head}X-Large: ${"a".repeat(65_536)}\r\n\r\n`));
      break;
    case "garbage":
      repeat((socket) => socket.end(Buffer.from(Array.from({ length: 512 }, (_, at) => (at * 167 + pick) % 256))));
      break;
    case "reset":
      repeat((socket) => {
        socket.write(head);
        setImmediate(() => socket.resetAndDestroy());
      });
      break;
    case "idle":
      for (let at = 0; at < idleCount; at += 1) open(() => {});
      break;
    default:
      open((socket) => invent(socket, pick));
  }
  return `${variant} on ${port}`;
}

/** Names that nobody knows, each only once: no table may keep them. */
function invent(socket: Socket, pick: number): void {
  for (let at = 0; at < inventedCount; at += 1) {
    const name = `${pick}-${at}-${Math.floor(performance.now())}`;
    const path = [`/clusters/x${name}/nodes/pg1/primary`, `/nodes/n${name}/replica`, `/clusters/c0/nodes/pg1/r${name}`];
    socket.write(`GET ${path[at % path.length]}?p${name}=1 HTTP/1.1\r\nHost: ${name}.example\r\n\r\n`);
  }
}
