import type { Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { onClosed } from "../message/connection-closed.ts";
import { writeReply } from "../message/http-exchange.ts";
import type { IncomingCall } from "../message/incoming-call.ts";
import { errorReply, type Reply } from "../message/reply.ts";
import { PageTurn, type PageGate } from "./page-gate.ts";
import type { RenderingContext } from "./rendering.ts";

/** How many scrapes of metrics may wait for the one page that is rendered for all of them. */
export const scrapesMax = 16;

/**
 * How long a longer reply may take to be read, in ms, and from which length on it counts as in flight until then, in
 * bytes.
 */
const deliveryMaxMs = 30_000;
const heldMin = 256 * 1024;
/** The delay of a refusal, in ms: it slows down a client that repeats a refused request at once. */
const refusalDelayMs = 200;
/** The delay of a refusal on a connection that pipelines pages, and is closed after it, in ms. */
const closingDelayMs = 1_000;

/** A page that costs more than a check. */
export interface Page {
  readonly gate: PageGate;
  /** One of a few names. */
  readonly name: string;
  /** How many renderings may run at a time. Default: 1 */
  readonly runningMax?: number;
  /** Returns the reply; `null` if the response was written already, or its client has left. */
  readonly render: (rendering: RenderingContext) => Promise<Reply | null>;
  /** Called with the status of each reply. */
  readonly onAnswer?: (status: number) => void;
}

type CountedPage = Pick<Page, "name" | "onAnswer">;

/** Connections with a page in flight. */
const busySockets = new WeakSet<Socket>();
/** Connections that pipelined pages: they get no further response. */
const closingSockets = new WeakSet<Socket>();

/**
 * Serves a page: one at a time for each connection, and as many as the gate allows for all of them. Further requests
 * get 429. A connection that pipelines pages is closed after the 429, and the pages behind it are dropped.
 * @returns `null`: the response is written
 */
export async function servePage(page: Page, incoming: IncomingCall): Promise<null> {
  if (!(await enter(page, incoming))) return null;
  const turn = page.gate.enter(page.name, page.runningMax);
  if (turn instanceof PageTurn) await render(page, incoming, turn);
  else await refuse(page, incoming, { delayMs: refusalDelayMs, reply: tooMany(page, turn.retryAfterS) });
  return null;
}

/**
 * Answers a request for a page that this listener does not have: with a delay, and one at a time for each connection,
 * so that a flood of them costs no more than a flood of pages.
 * @returns `null`: the response is written
 */
export async function refusePage(page: CountedPage, incoming: IncomingCall, reply: Reply): Promise<null> {
  if (await enter(page, incoming)) await refuse(page, incoming, { delayMs: refusalDelayMs, reply });
  return null;
}

/** Whether a page request is the only one of its connection. If not, the connection is closed after a 429. */
async function enter(page: CountedPage, incoming: IncomingCall): Promise<boolean> {
  const { response, message } = incoming;
  const { socket } = message;
  if (closingSockets.has(socket)) return false;
  if (!busySockets.has(socket)) {
    busySockets.add(socket);
    response.once("close", () => busySockets.delete(socket));
    return true;
  }
  closingSockets.add(socket);
  socket.pause();
  await refuse(page, incoming, { delayMs: closingDelayMs, reply: tooMany(page, 1, ["Connection", "close"]) });
  return false;
}

async function render(page: Page, incoming: IncomingCall, turn: PageTurn): Promise<void> {
  const abort = new AbortController();
  const cancelOnClosed = onClosed(incoming.message.socket, () => {
    abort.abort();
    turn.leave();
  });
  try {
    const reply = await page.render({ turn, signal: abort.signal, incoming });
    if (reply === null) return;
    answer(page, incoming, reply);
    if (lengthOf(reply) > heldMin) await delivered(incoming);
  } finally {
    cancelOnClosed();
    turn.leave();
  }
}

/**
 * Waits until a long response was read, so that memory holds at most one of each page. Destroys the response if the
 * client is too slow.
 */
async function delivered({ response }: IncomingCall): Promise<void> {
  if (response.writableFinished || response.closed) return;
  const timer = setTimeout(() => response.destroy(), deliveryMaxMs);
  await new Promise((resolve) => void response.once("close", resolve));
  clearTimeout(timer);
}

function lengthOf({ body, pieces }: Reply): number {
  return (pieces ?? [body]).reduce((sum, piece) => sum + piece.length, 0);
}

/** Writes a refusal after a delay. */
async function refuse(
  page: CountedPage,
  incoming: IncomingCall,
  { delayMs, reply }: { readonly delayMs: number; readonly reply: Reply },
): Promise<void> {
  await pause(delayMs, undefined, { ref: false });
  answer(page, incoming, reply);
}

function answer({ onAnswer }: CountedPage, { message, response }: IncomingCall, reply: Reply): void {
  if (response.destroyed || message.socket.destroyed) return;
  onAnswer?.(reply.status);
  writeReply(response, reply, message.method ?? "GET");
}

function tooMany({ name }: CountedPage, retryAfterS: number, headers: readonly string[] = []): Reply {
  return errorReply(429, "busy", {
    message: `Cannot render /${name} now: another request is rendering it, or it was requested too often`,
    headers: ["X-Rolecall-Reason", "busy", "Retry-After", String(retryAfterS), ...headers],
  });
}
