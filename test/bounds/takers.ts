/** Whether a message of a size is taken by what reads it. */
import { createServer as createHttpServer, type IncomingMessage } from "node:http";
import { createServer as createTcpServer } from "node:net";
import { Readable } from "node:stream";
import { type TestContext } from "node:test";
import { gzipSync } from "node:zlib";
import { peerBodyBytes } from "../../src/features/switchover/open-switchover.ts";
import { emptyBook, promise } from "../../src/features/switchover/claims/claim-book.ts";
import { readClaim } from "../../src/features/switchover/claims/claim.ts";
import { readAnnouncement, readHeartbeat } from "../../src/features/switchover/peers/announcement.ts";
import { scopeLimits } from "../../src/features/dcs/scope-keys.ts";
import { EtcdClient } from "../../src/core/etcd/etcd-client.ts";
import type { FeedMessage } from "../../src/features/follow/feed/feed-messages.ts";
import { httpFeed } from "../../src/features/follow/follower/http-feed.ts";
import { FleetReader, memberKey, memberRecord } from "../../src/features/fleet/ownership/fleet-view.ts";
import { BodyBudget } from "../../src/core/http/message/body-budget.ts";
import { unrestrictedAccess } from "../../src/core/config/model/listener-access-config.ts";
import { ConcurrentBodies } from "../../src/features/gateway/concurrent-bodies.ts";
import { readBody } from "../../src/core/http/message/request-body.ts";
import { readJsonBody } from "../../src/core/http/message/json-body.ts";
import { ChangeDecoder } from "../../src/features/follow/feed/change-codec.ts";
import { RuntimeSession } from "../../src/features/haproxy/runtime-session.ts";
import { MessageGuard } from "../../src/core/balancing/pgbouncer/message-guard.ts";
import { Subscription } from "../../src/features/xds/protocol/subscription.ts";
import { xdsFixture } from "../features/xds/xds-fixture.ts";
import { assignmentType } from "../fake/xds-client.ts";
import { listenDuringTest } from "../fake/listen.ts";
import { SharedNames } from "../../src/features/xds/protocol/shared-names.ts";

const wanted = { name: "demo", shape: {} };
/** A text of so many characters. */
export const text = (length: number): string => "x".repeat(length);
/** A list of so many entries. */
export const list = <T>(length: number, entry: T): readonly T[] => Array.from({ length }, () => entry);
/** What a follower asks for. */
export const request = { protocol: 1, version: "1", name: "edge", token: 1, clusters: [wanted], resume: null };

export function keepsAll(read: FeedMessage | null, size: number): boolean {
  if (read !== null && "bye" in read) return read.bye.length === size;
  return read !== null && "moved" in read && read.moved.refused[0]?.message.length === size;
}

/** Why the stream of an upstream ends that sends one text. */
export async function endOfFeed(context: TestContext, sent: string): Promise<string> {
  const server = createHttpServer((_, response) => response.writeHead(200).end(gzipSync(sent)));
  const url = `http://127.0.0.1:${await listenDuringTest(context, server)}`;
  const asked = { ...request, clusters: [], isOwner: true, canMove: true };
  return new Promise((resolve) => {
    httpFeed({ url, tls: null, tokenFile: null })(asked, { onMessage: () => {}, onBytes: () => {}, onEnd: resolve });
  });
}

export function reservesInAll(size: number): boolean {
  const budget = new BodyBudget({ one: 16, all: 32 });
  budget.reserve(16, "one");
  return (
    budget.reserve(Math.min(16, size - 16), "two") !== null &&
    (size <= 32 || budget.reserve(size - 32, "three") !== null)
  );
}

export function readsMember(parts: object): boolean {
  const member = {
    url: "http://edge1:9443",
    zone: null,
    weight: 1,
    observers: 1,
    version: "1",
    instance: "i",
    lease: "7",
  };
  const reader = new FleetReader();
  reader.take(memberKey("edge1:9443"), memberRecord({ ...member, clusters: {}, ...parts }));
  return reader.members.size === 1;
}

export function subscribes(names: readonly string[]): boolean {
  const subscription = new Subscription(() => false, new SharedNames());
  const asked = { names: { form: "sotw", all: names } as const, nonce: "", refusal: null, type: "" };
  subscription.receive({ client: { id: "e", cluster: "", zone: "", agent: "", version: null }, ...asked });
  return !subscription.hasForgotten;
}

/** Whether a request of this size is answered: a name of a pool that does not exist fills it. */
export async function takesRequest(context: TestContext, size: number): Promise<boolean> {
  const fixture = await xdsFixture(context);
  const stream = fixture.connect("ads sotw");
  const asked = { node: { id: "e" }, type_url: assignmentType, resource_names: ["write", ""] };
  // What the message has besides: its fields, and the length of the name in 3 bytes.
  const besides = 2 + 3 + 2 + assignmentType.length + 2 + "write".length + 1 + 3;
  stream.send({ ...asked, resource_names: ["write", text(size - besides)] });
  const answer = await Promise.race([
    stream.next().then(() => true),
    (async () => {
      while (stream.ended === null) await new Promise((resolve) => void setTimeout(resolve, 10));
      return false;
    })(),
  ]);
  stream.close();
  return answer;
}

export function message(type: string, length: number): Buffer {
  const bytes = Buffer.alloc(5 + length);
  bytes.write(type, 0, "latin1");
  bytes.writeUInt32BE(4 + length, 1);
  return bytes;
}

export function row(columns: number): Buffer {
  const bytes = message("D", 2 + 4 * columns);
  bytes.writeInt16BE(columns, 5);
  return bytes;
}

export function guards(run: (guard: MessageGuard) => void, isAnswer = true): boolean {
  const guard = new MessageGuard();
  if (isAnswer) guard.expectAnswer();
  try {
    run(guard);
    return true;
  } catch {
    return false;
  }
}

/** Messages of so many bytes together. */
export function inPieces(size: number, take: (piece: Buffer) => void): void {
  for (let left = size; left > 0;) {
    const length = left > 65_536 + 5 ? 65_536 : Math.min(left, 65_536);
    take(message("S", Math.max(5, length) - 5).subarray(0, length));
    left -= length;
  }
}

export async function readsEtcd(context: TestContext, size: number): Promise<boolean> {
  const body = `{"a":"${text(size - 8)}"}`;
  const server = createHttpServer((_, response) => response.writeHead(200).end(body));
  const origin = `http://127.0.0.1:${await listenDuringTest(context, server)}`;
  const client = new EtcdClient(origin, { tls: {}, auth: null }, { timeoutMs: 5_000, limits: scopeLimits });
  const reply = await client.call("/v3/kv/range", {});
  client.close();
  return "status" in reply;
}

/** What HAProxy writes besides the answers of five commands: its prompts. */
export const overhead = 5 * 3 + 3;

export async function readsRuntime(context: TestContext, sizes: readonly number[]): Promise<boolean> {
  const server = createTcpServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", () => {
      socket.write("\n> ");
      for (const size of sizes) socket.write(`${text(size)}\n> `);
    });
  });
  const port = await listenDuringTest(context, server);
  const session = new RuntimeSession({ host: "127.0.0.1", port }, 5_000);
  session.open();
  const answers = await session.run(sizes.map(() => "show")).catch(() => null);
  session.close();
  return answers !== null;
}

export async function readsBody(size: number, most?: number): Promise<boolean> {
  const body = `{"a":"${text(size - 8)}"}`;
  const headers = { "content-type": "application/json" };
  const received: unknown = Object.assign(Readable.from([Buffer.from(body)]), { headers, complete: true });
  // A request as readBody reads it: its head, and its body as a stream.
  const read = await readJsonBody(received as IncomingMessage, most);
  return read.ok;
}

const claim = {
  run: "r",
  cluster: "demo",
  generation: 1,
  by: "core1",
  instance: "i",
  databases: [{ pooler: "p", database: "d" }],
  dry_run: false,
};

/** Whether the gateway takes the body of a management call: it reads it as this does. */
export async function takesCall(size: number): Promise<boolean> {
  const received: unknown = Object.assign(Readable.from([Buffer.alloc(size)]), { headers: {}, complete: true });
  return (await readBody(received as IncomingMessage, unrestrictedAccess.limits.bodyMax)).kind === "whole";
}

/** Whether so many bodies of management calls are received at a time. */
export function receivesCalls(count: number, isOneAddress: boolean): boolean {
  const bodies = new ConcurrentBodies();
  return Array.from({ length: count }, (_, at) => bodies.acquire(isOneAddress ? "::1" : `10.0.0.${at}`)).every(
    (release) => release !== null,
  );
}

/** Whether a claim is one. */
export const claims = (part: object): boolean => typeof readClaim({ ...claim, ...part }) !== "string";

/** Whether a claim is promised beside others with so many databases together. */
export function promises(databases: number): boolean {
  let book = emptyBook;
  for (let at = 0, left = databases; left > 0; at += 1) {
    const count = Math.min(left, 16_384);
    left -= count;
    const names = Array.from({ length: count }, (_, index) => ({ pooler: `p${at}`, database: `d${index}` }));
    const asked = { ...claim, run: `r${at}`, cluster: `c${at}`, databases: names };
    const promised = promise(book, asked, { open: [], nowMs: 0 });
    if (promised.answer.kind !== "granted") return false;
    ({ book } = promised);
  }
  return true;
}

/** Whether the number of the first of so many clusters is kept. */
export function keepsGeneration(clusters: number): boolean {
  let book = emptyBook;
  for (let at = 0; at < clusters; at += 1) {
    const asked = { ...claim, run: `r${at}`, cluster: `c${at}`, databases: [{ pooler: "p", database: `d${at}` }] };
    ({ book } = promise(book, asked, { open: [], nowMs: 20_000 * at }));
  }
  return book.generations.has("c0");
}

/** Whether an announcement is one. */
export const announces = (part: object): boolean =>
  typeof readAnnouncement({
    run: "r",
    cluster: "demo",
    deadline_ms: 1_000,
    poolers: [{ pooler: "p", console: "c", databases: ["d"] }],
    ...part,
  }) !== "string";

/** Whether a heartbeat is one. */
export const beats = (part: object): boolean => typeof readHeartbeat(part) !== "string";

/** Whether calls of peers are received whose bodies have so many bytes together, of one caller each. */
export async function receivesFromPeers(size: number, isOneCaller: boolean): Promise<boolean> {
  const budget = new BodyBudget(peerBodyBytes);
  const sizes = [];
  for (let left = size; left > 0; left -= Math.min(left, 2_097_152)) sizes.push(Math.min(left, 2_097_152));
  return sizes.every((bytes, at) => budget.reserve(bytes, isOneCaller ? "one" : `caller ${at}`) !== null);
}

/** A JSON text of so many characters. */
export function padded(start: string, size: number, end = "}"): string {
  return `${start}${" ".repeat(size - start.length - end.length)}${end}`;
}

export function decodes(change: object): boolean {
  const decoder = new ChangeDecoder();
  return decoder.decode({ cluster: "demo", ageMs: 0, ...change }, { sentAtMs: 1_000, wallOffsetMs: 0 }) !== null;
}
