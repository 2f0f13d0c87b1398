/** What is polled beside the pools: the role of each node, the heartbeat that reads find, and rolecall's answers. */
import { connect, type Socket } from "node:net";
import { Session } from "./connections.ts";
import type { Recorder } from "./recorder.ts";
import { query } from "./wire.ts";

/** A promotion is the first `pg_is_in_recovery() = false`, polled this often. Also the pause between two requests. */
export const pollMs = 10;
const idleMs = 100;
const beatMs = 50;
const deadlineMs = 1_000;
const roleStatement = query("select pg_is_in_recovery()");

/** Polls one node, and keeps the heartbeat while it is writable. */
export class NodePoller {
  readonly #node: { readonly name: string; readonly databasePort: number };
  readonly #recorder: Recorder;
  readonly #stop = new AbortController();
  #isWritable = false;

  constructor(node: { readonly name: string; readonly databasePort: number }, recorder: Recorder) {
    this.#node = node;
    this.#recorder = recorder;
  }

  start(): void {
    void this.#poll();
    void this.#beat();
  }

  stop(): void {
    this.#stop.abort();
  }

  async #poll(): Promise<void> {
    let session: Session | undefined;
    while (!this.#stop.signal.aborted) {
      const startedAt = performance.now();
      session ??= await Session.open(this.#node.databasePort, deadlineMs);
      const outcome = await session?.ask(roleStatement, deadlineMs);
      if (outcome?.failure !== undefined) session?.close();
      if (session?.closedAt !== undefined) session = undefined;
      this.#isWritable = outcome?.row?.[0] === "f";
      if (this.#isWritable) this.#recorder.writable(this.#node.name, outcome?.endedAt ?? 0);
      await pauseUntil(startedAt + (this.#recorder.isRecording ? pollMs : idleMs));
    }
    session?.close();
  }

  async #beat(): Promise<void> {
    let session: Session | undefined;
    while (!this.#stop.signal.aborted) {
      const startedAt = performance.now();
      if (this.#isWritable) {
        session ??= await Session.open(this.#node.databasePort, deadlineMs);
        const at = performance.now();
        const outcome = await session?.ask(query(`update outage_beat set at = ${at}`), deadlineMs);
        if (outcome?.row !== undefined) this.#recorder.beat(at, outcome.endedAt);
        else session?.close();
      }
      if (session?.closedAt !== undefined) session = undefined;
      await pauseUntil(startedAt + beatMs);
    }
    session?.close();
  }
}

/**
 * Asks an instance of rolecall every 10 ms for the primary of the whole cluster, while an event runs. The connection is
 * kept, and only one request is on its way.
 */
export class YesPoller {
  readonly #edge: string;
  readonly #port: number;
  readonly #recorder: Recorder;
  readonly #slowness: number;
  readonly #stop = new AbortController();

  constructor(edge: { readonly name: string; readonly port: number }, recorder: Recorder, slowness: number) {
    this.#slowness = slowness;
    this.#edge = edge.name;
    this.#port = edge.port;
    this.#recorder = recorder;
  }

  async start(): Promise<void> {
    let socket: Socket | undefined;
    while (!this.#stop.signal.aborted) {
      const startedAt = performance.now();
      if (this.#recorder.isRecording) {
        if (socket === undefined || socket.destroyed) socket = connect({ host: "127.0.0.1", port: this.#port });
        const head = await headOf(socket);
        const [, node] = /^HTTP\/1\.1 200 .*^X-Rolecall-Node: (\S+)/ims.exec(head) ?? [];
        if (node !== undefined) this.#recorder.yes(this.#edge, node, performance.now());
      }
      await pauseUntil(startedAt + (this.#recorder.isRecording ? pollMs : idleMs) * this.#slowness);
    }
    socket?.destroy();
  }

  stop(): void {
    this.#stop.abort();
  }
}

/** Sends the request and returns the head of the answer; empty if none comes. */
function headOf(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    let text = "";
    const finish = (isWhole: boolean): void => {
      clearTimeout(deadline);
      socket.removeAllListeners();
      socket.on("error", () => {}); // "destroyed" shows it
      if (!isWhole) socket.destroy();
      resolve(isWhole ? text : "");
    };
    const deadline = setTimeout(() => finish(false), deadlineMs);
    socket.on("data", (piece: Buffer) => {
      text += piece.toString("latin1");
      if (text.endsWith("\r\n\r\n")) finish(true);
      else if (text.length > 16_384) finish(false);
    });
    socket.on("error", () => finish(false));
    socket.on("close", () => finish(false));
    socket.write("HEAD /clusters/demo/primary HTTP/1.1\r\nHost: rolecall\r\n\r\n");
  });
}

function pauseUntil(at: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, Math.max(1, at - performance.now()));
  });
}
