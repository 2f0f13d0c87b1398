import { setTimeout as pause } from "node:timers/promises";
import { escapeUnsafe } from "../../cluster/values/unsafe-text.ts";
import type { IncomingCall } from "../message/incoming-call.ts";
import { errorReply, type Reply } from "../message/reply.ts";
import type { PageTurn } from "./page-gate.ts";

/** What the rendering of a page needs. */
export interface RenderingContext {
  /** Counts the time for which rendering blocks the event loop. */
  readonly turn: Pick<PageTurn, "charge">;
  /** Aborted when the client closes its connection. */
  readonly signal: AbortSignal;
  /** The request for the page. */
  readonly incoming: IncomingCall;
}

/** How long rendering continues before other requests are served, in ms. */
const sliceMs = 0.5;
/** How much text is copied at once, in characters. */
const sliceCharactersMax = 64 * 1024;
/** How long other requests have the event loop between two slices, in ms. */
const pauseMs = 1;
/** How long rendering one page may take, in ms. */
const renderingMaxMs = 30_000;
/** The longest page, in bytes. */
const bytesMax = 32 * 1024 * 1024;

/** Renders a short page in one step, without pauses for other requests, and charges the time that it takes. */
export function renderInOneStep({ turn }: Pick<RenderingContext, "turn">, render: () => Reply): Promise<Reply> {
  const startedAtMs = performance.now();
  const reply = render();
  turn.charge(performance.now() - startedAtMs);
  return Promise.resolve(reply);
}

/**
 * Renders text piece by piece in slices of about half a millisecond. Other requests are served between the slices.
 * @param headers name, value, name, value, … in addition to Cache-Control
 * @returns the page; a 503 if it takes too long or becomes too large; `null` if the client has left
 */
export async function renderSliced(
  pieces: Iterable<string>,
  { turn, signal }: Pick<RenderingContext, "turn" | "signal">,
  headers: readonly string[],
): Promise<Reply | null> {
  const rendered: Buffer[] = [];
  const isJson = headers.includes("application/json");
  let pending = "";
  let bytes = 0;
  const startedAtMs = performance.now();
  let sliceStartedAtMs = startedAtMs;
  const flush = (): void => {
    const chunk = Buffer.from(isJson ? escapeUnsafe(pending) : pending);
    bytes += chunk.length;
    rendered.push(chunk);
    pending = "";
  };
  for (const piece of pieces) {
    pending += piece;
    const nowMs = performance.now();
    if (nowMs - sliceStartedAtMs < sliceMs && pending.length < sliceCharactersMax) continue;
    flush();
    turn.charge(nowMs - sliceStartedAtMs);
    await pause(pauseMs);
    if (signal.aborted) return null;
    sliceStartedAtMs = performance.now();
    if (bytes > bytesMax || sliceStartedAtMs - startedAtMs > renderingMaxMs) return tooExpensive();
  }
  flush();
  turn.charge(performance.now() - sliceStartedAtMs);
  return {
    status: 200,
    phrase: "OK",
    headers: ["Cache-Control", "no-store", ...headers],
    body: Buffer.alloc(0),
    pieces: rendered,
  };
}

function tooExpensive(): Reply {
  return errorReply(503, "page_too_large", {
    message: `Cannot render this page: its rendering must take at most ${renderingMaxMs / 1000} s, and its size must be at most ${bytesMax / 1024 / 1024} MB; request one cluster with fewer nodes`,
    headers: ["Retry-After", "10"],
  });
}
