import type { Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { onClosed } from "../message/connection-closed.ts";
import { writeReply } from "../message/http-exchange.ts";
import { PageTurn, type PageGate } from "./page-gate.ts";
import type { Delegated, IncomingCall } from "../message/passthrough.ts";
import { errorReply, type Reply } from "../message/reply.ts";

/** How many scrapes of metrics may wait for the one page that is rendered for all of them. */
export const scrapesMax = 16;

/** How long rendering goes on before other requests are answered, in ms. */
const sliceMs = 0.5;
/** How much text is copied at once, in characters. */
const sliceCharactersMax = 64 * 1024;
/** How long others have the event loop between two slices, in ms. */
const restMs = 1;
/** How long one page may take, in ms, and how long it may be, in bytes. */
const renderingMaxMs = 30_000;
const bytesMax = 32 * 1024 * 1024;
/** A longer answer counts as under way until it was read, in bytes; and how long reading may take, in ms. */
const heldMax = 256 * 1024;
const deliveryMaxMs = 30_000;
/** How long a refusal is held back, so that who repeats a refused request at once is slowed down, in ms. */
const refusalDelayMs = 200;
/** The same for a connection that pipelines pages, and is closed then. */
const closingDelayMs = 1_000;

/** What a rendering goes on with. */
export interface Rendering {
  readonly turn: Pick<PageTurn, "charge">;
  /** Aborted when the client has left. */
  readonly signal: AbortSignal;
  readonly incoming: IncomingCall;
}

/** A page that costs more than a check. */
export interface Page {
  readonly gate: PageGate;
  /** One of a few names. */
  readonly name: string;
  /** How many renderings there may be at a time. Default: 1 */
  readonly atOnce?: number;
  /** Gives the answer; `null` where it was written already, or nobody waits for it. */
  readonly render: (rendering: Rendering) => Promise<Reply | null> | Reply;
  readonly onAnswer?: (status: number) => void;
}

type Named = Pick<Page, "name" | "onAnswer">;

/** Connections with a page under way. */
const withPage = new WeakSet<Socket>();
/** Connections that pipelined pages: they get no further answer. */
const closing = new WeakSet<Socket>();

/**
 * Answers with a page: one at a time for each connection, and as many as the gate allows for all of them. Further ones are 429. A
 * connection that pipelines pages is closed after the 429: pages behind it are dropped.
 */
export function paged(page: Page): Delegated {
  return { take: (incoming) => serve(page, incoming) };
}

/**
 * Answers a request for a page that this listener does not have: after a while, and one at a time for each connection, so that a flood of
 * them costs no more than a flood of pages.
 */
export function withoutPage(reply: Reply, { name, onAnswer }: Pick<Page, "name" | "onAnswer">): Delegated {
  const page = { name, ...(onAnswer === undefined ? {} : { onAnswer }) };
  return {
    take: async (incoming) => {
      if (await isFirst(page, incoming)) await refuse(page, incoming, { delayMs: refusalDelayMs, reply });
    },
  };
}

/** Whether a request for a page is the only one of its connection. Else the connection is closed after a 429. */
async function isFirst(page: Named, incoming: IncomingCall): Promise<boolean> {
  const { response, message } = incoming;
  const { socket } = message;
  if (closing.has(socket)) return false;
  if (!withPage.has(socket)) {
    withPage.add(socket);
    response.once("close", () => withPage.delete(socket));
    return true;
  }
  closing.add(socket);
  socket.pause();
  await refuse(page, incoming, { delayMs: closingDelayMs, reply: tooMany(page, 1, ["Connection", "close"]) });
  return false;
}

async function serve(page: Page, incoming: IncomingCall): Promise<void> {
  if (!(await isFirst(page, incoming))) return;
  const turn = page.gate.enter(page.name, page.atOnce);
  if (turn instanceof PageTurn) await render(page, incoming, turn);
  else await refuse(page, incoming, { delayMs: refusalDelayMs, reply: tooMany(page, turn.retryAfterS) });
}

async function render(page: Page, incoming: IncomingCall, turn: PageTurn): Promise<void> {
  const left = new AbortController();
  const leave = (): void => {
    left.abort();
    turn.leave();
  };
  const forget = onClosed(incoming.message.socket, leave);
  try {
    const beganMs = performance.now();
    const given = page.render({ turn, signal: left.signal, incoming });
    if (!(given instanceof Promise)) turn.charge(performance.now() - beganMs);
    const reply = await given;
    if (reply === null) return;
    answer(page, incoming, reply);
    if (lengthOf(reply) > heldMax) await delivered(incoming);
  } finally {
    forget();
    turn.leave();
  }
}

/** Waits until a long answer was read: so at most one of each page is held in memory. A client that reads too slowly is cut off. */
async function delivered({ response }: IncomingCall): Promise<void> {
  if (response.writableFinished || response.closed) return;
  const timer = setTimeout(() => response.destroy(), deliveryMaxMs);
  await new Promise((resolve) => void response.once("close", resolve));
  clearTimeout(timer);
}

function lengthOf({ body, pieces }: Reply): number {
  return (pieces ?? [body]).reduce((sum, piece) => sum + piece.length, 0);
}

/** Writes a refusal after a while: who repeats a refused request at once is slowed down. */
async function refuse(
  page: Named,
  incoming: IncomingCall,
  { delayMs, reply }: { readonly delayMs: number; readonly reply: Reply },
): Promise<void> {
  await pause(delayMs, undefined, { ref: false });
  answer(page, incoming, reply);
}

function answer({ onAnswer }: Named, { message, response }: IncomingCall, reply: Reply): void {
  if (response.destroyed || message.socket.destroyed) return;
  onAnswer?.(reply.status);
  writeReply(response, reply, message.method ?? "GET");
}

function tooMany({ name }: Named, retryAfterS: number, headers: readonly string[] = []): Reply {
  return errorReply(429, "busy", {
    message: `Cannot render /${name} now: another request is rendering it, or it was requested too often`,
    headers: ["X-Rolecall-Reason", "busy", "Retry-After", String(retryAfterS), ...headers],
  });
}

/**
 * Renders text piece by piece in slices of about half a millisecond, with whatever else waits served in between.
 * @returns the page; a 503 where it took too long or grew too large; `null` where the client has left
 */
export async function renderSliced(
  pieces: Iterable<string>,
  { turn, signal }: Pick<Rendering, "turn" | "signal">,
  headers: readonly string[],
): Promise<Reply | null> {
  const done: Buffer[] = [];
  let pending = "";
  let bytes = 0;
  const beganMs = performance.now();
  let sliceBeganMs = beganMs;
  const flush = (): void => {
    const piece = Buffer.from(pending);
    bytes += piece.length;
    done.push(piece);
    pending = "";
  };
  for (const piece of pieces) {
    pending += piece;
    const nowMs = performance.now();
    if (nowMs - sliceBeganMs < sliceMs && pending.length < sliceCharactersMax) continue;
    flush();
    turn.charge(nowMs - sliceBeganMs);
    await pause(restMs);
    if (signal.aborted) return null;
    sliceBeganMs = performance.now();
    if (bytes > bytesMax || sliceBeganMs - beganMs > renderingMaxMs) return unbounded();
  }
  flush();
  turn.charge(performance.now() - sliceBeganMs);
  return {
    status: 200,
    phrase: "OK",
    headers: ["Cache-Control", "no-store", ...headers],
    body: Buffer.alloc(0),
    pieces: done,
  };
}

function unbounded(): Reply {
  return errorReply(503, "page_too_large", {
    message: `Cannot render this page: it must take at most ${renderingMaxMs / 1000} s and ${bytesMax / 1024 / 1024} MB; request one cluster with fewer nodes`,
    headers: ["Retry-After", "10"],
  });
}
