/**
 * The process that observes the truth, in a namespace that no fault cuts off. It writes ticks into etcd, requests from
 * every node whether it holds the lock, and sends requests for the runner, which come as one JSON object a line on its
 * standard input.
 */
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { addressOf, nodeNames } from "../machines/addresses.ts";
import { etcdClients } from "../machines/etcd-member.ts";
import { HistoryRecorder } from "./recorder.ts";
import { nowMs, type Place, Session } from "./session.ts";
import { call, type Call } from "./status.ts";

/** A request of the runner: one of both. */
export interface Errand {
  readonly id: number;
  readonly http?: Call;
  readonly sql?: { readonly place: Place; readonly statement: string };
}

const tickEveryMs = 200;
const pollEveryMs = 500;

const [file = ""] = process.argv.slice(2);
const over = new AbortController();
const recorder = new HistoryRecorder(file, "observer");
const lines = createInterface(process.stdin);
lines.on("line", (line) => void serve(JSON.parse(line) as Errand));
lines.on("close", () => {
  over.abort();
});
await Promise.all([tick(), ...nodeNames.map((node) => poll(node))]);
recorder.close();
process.exit(0);

async function serve({ id, http, sql }: Errand): Promise<void> {
  const answer = http === undefined ? { rows: sql === undefined ? null : await rowsOf(sql) } : await call(http);
  process.stdout.write(`${JSON.stringify({ id, ...answer })}\n`);
}

async function rowsOf({ place, statement }: NonNullable<Errand["sql"]>): Promise<readonly object[] | null> {
  const session = new Session(place);
  try {
    await session.open();
    return await session.ask<object>(statement);
  } catch {
    return null;
  } finally {
    session.close();
  }
}

/** Writes into etcd, at the next member after each failure. */
async function tick(): Promise<void> {
  const key = Buffer.from("/jepsen/tick").toString("base64");
  for (let at = 0; !over.signal.aborted;) {
    const [host = "", port] = (etcdClients[at % etcdClients.length] ?? "").split(":");
    const sentAtMs = nowMs();
    const body = { key, value: "" };
    const reply = await call({ host, port: Number(port), path: "/v3/kv/put", body, deadlineMs: 800 });
    if (reply.status === 200) {
      const { header } = JSON.parse(reply.text) as { readonly header: { readonly revision: string } };
      recorder.add({ type: "tick", sentAtMs, acknowledgedAtMs: nowMs(), revision: Number(header.revision) });
    } else at += 1;
    await sleep(Math.max(20, sentAtMs + tickEveryMs - nowMs()));
  }
}

async function poll(node: (typeof nodeNames)[number]): Promise<void> {
  while (!over.signal.aborted) {
    const sentAtMs = nowMs();
    const reply = await call({ host: addressOf(node), port: 8008, path: "/leader", deadlineMs: 1_000 });
    recorder.add({ type: "poll", sentAtMs, answeredAtMs: nowMs(), node, leader: reply.status });
    await sleep(Math.max(50, sentAtMs + pollEveryMs - nowMs()));
  }
}
