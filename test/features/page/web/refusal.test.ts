import assert from "node:assert/strict";
import { test } from "node:test";

interface Refusal {
  readonly text: string;
  readonly waits: readonly number[];
  readonly leastMs?: number;
}

// The page is plain JavaScript, which the compiler does not read: its modules are imported by their address.
const { refusalOf, waitMs, unreachable } = (await import(
  new URL("../../../../src/features/page/web/live/refusal.js", import.meta.url).href
)) as {
  readonly refusalOf: (answer: object) => Refusal | null;
  readonly waitMs: (refusal: Refusal, failures: number, random?: number) => number;
  readonly unreachable: Refusal;
};

function answer(status: number, headers: Record<string, string> = {}, type = "basic"): object {
  return { type, status, headers: new Headers(headers) };
}

for (const { title, received, text } of [
  { title: "a stream", received: answer(200, { "content-type": "text/event-stream; charset=utf-8" }), text: null },
  { title: "a proxy that refuses HEAD", received: answer(405), text: null },
  { title: "missing credentials", received: answer(401), text: /credentials \(401\)[^]*Reload the page to sign in/ },
  { title: "a forbidden address", received: answer(403), text: /does not allow this address or user \(403\)/ },
  { title: "another server", received: answer(404), text: /no such stream \(404\)/ },
  { title: "too many streams", received: answer(429), text: /Too many streams are open \(429\): at most 16 [^]*64/ },
  { title: "a redirect", received: answer(0, {}, "opaqueredirect"), text: /redirect[^]*sign-in/ },
  {
    title: "a login page",
    received: answer(200, { "content-type": "text/html" }),
    text: /A page is received[^]*sign-in/,
  },
  { title: "JSON", received: answer(200, { "content-type": "application/json" }), text: /\(application\/json\)/ },
  { title: "no type", received: answer(200), text: /\(nothing\)/ },
  { title: "a proxy without its server", received: answer(502), text: /answers 502/ },
  { title: "any other status", received: answer(418), text: /answers 418/ },
])
  test(`why a stream is refused: ${title}`, () => {
    const refusal = refusalOf(received);
    if (text === null) assert.equal(refusal, null);
    else assert.match(refusal?.text ?? "", text);
  });

test("waits grow with each failure up to a limit, and spread", () => {
  const waits = Array.from({ length: 6 }, (_, failures) => waitMs(unreachable, failures, 0.5));
  assert.deepEqual(waits, [500, 1_000, 2_000, 5_000, 5_000, 5_000]);
  assert.deepEqual([waitMs(unreachable, 0, 0), waitMs(unreachable, 0, 1)], [375, 625]);
});

test("a busy server is asked again no sooner than it wants, and seldom", () => {
  const busy = refusalOf(answer(429, { "retry-after": "5" })) as Refusal;
  assert.deepEqual(
    [0, 1, 2, 3, 9].map((failures) => waitMs(busy, failures, 0)),
    [5_000, 7_500, 15_000, 22_500, 22_500],
  );
  const endless = refusalOf(answer(429, { "retry-after": "99999" })) as Refusal;
  assert.equal(waitMs(endless, 0, 0), 60_000);
});
