import assert from "node:assert/strict";
import { suite, test, type TestContext } from "node:test";

/** The page is plain JavaScript, which the compiler does not read: its modules are imported by their address. */
async function load<N extends string>(path: string): Promise<Record<N, (...values: readonly unknown[]) => unknown>> {
  return (await import(new URL(`../../../../src/features/page/web/${path}`, import.meta.url).href)) as never;
}

const { known, unknown, wordsFor, withStream, orNone, partOf, dataOf } = await load<
  "known" | "unknown" | "wordsFor" | "withStream" | "orNone" | "partOf" | "dataOf"
>("live/reading.js");
const { DocumentReader, readInTurn } = (await import(
  new URL("../../../../src/features/page/web/live/document-reader.js", import.meta.url).href
)) as {
  readonly DocumentReader: new (
    read: (signal: AbortSignal) => Promise<unknown>,
    onReading: (reading: object) => void,
  ) => { ask(): Promise<void>; close(): void };
  readonly readInTurn: (path: string, signal: AbortSignal) => Promise<unknown>;
};
const { changedText } = await load<"changedText">("views/recent.js");
const loading = { kind: "loading" };

for (const [reading, words, changed] of [
  [loading, "Reading events.", "reading what changed"],
  [
    unknown("GET /events answered 503", { last: [] }),
    "Not known: events. GET /events answered 503.",
    "not known what changed: GET /events answered 503",
  ],
  [known([]), null, "nothing changed"],
] as const)
  test(`words for ${JSON.stringify(reading)}`, () => {
    assert.equal(wordsFor(reading, "events"), words);
    assert.equal(changedText(reading, 0), changed);
    assert.match(String(changedText(reading, 2)), /^2 events(?:$|, and (?:reading|not known what else))/);
  });

suite("what a document says together with the stream that goes on with it", () => {
  const live = { isPast: false, state: "live" };
  for (const [store, document, kind] of [
    [live, known(1), "known"],
    [live, loading, "loading"],
    [live, unknown("no"), "unknown"],
    [{ isPast: true, state: "past" }, known(1), "known"],
    [{ isPast: false, state: "connecting" }, known(1), "loading"],
    [{ isPast: false, state: "lost", receivedMs: 0 }, known(1), "unknown"],
    [{ isPast: false, state: "paused", receivedMs: 0 }, known(1), "unknown"],
    [{ isPast: false, state: "absent", receivedMs: 0 }, known(1), "unknown"],
  ] as const)
    test(`${JSON.stringify(store)} with ${JSON.stringify(document)} is ${kind}`, () =>
      assert.equal((withStream(document, store) as { kind: string }).kind, kind));
});

test("a server without a document has none of it; a part of a reading has its state", () => {
  assert.deepEqual(orNone(unknown("gone", { status: 404 }), 0), known(0));
  assert.equal((orNone(unknown("full", { status: 503 }), 0) as { kind: string }).kind, "unknown");
  const double = (value: unknown): number => 2 * Number(value);
  assert.deepEqual(partOf(known(2), double), known(4));
  assert.equal(dataOf(partOf(unknown("no", { last: 2 }), double)), 4);
  assert.deepEqual(partOf(loading, double), loading);
});

/** Lets what is ready go on. */
async function settle(): Promise<void> {
  for (let at = 0; at < 20; at += 1) await new Promise((resolve) => void setImmediate(resolve));
}

interface Script {
  readonly kinds: string[];
  readonly reader: InstanceType<typeof DocumentReader>;
  readonly answers: { resolve: (value: unknown) => void; reject: (error: Error) => void }[];
}

function scripted(context: TestContext): Script {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const kinds: string[] = [];
  const answers: Script["answers"] = [];
  const read = (): Promise<unknown> => new Promise((resolve, reject) => void answers.push({ resolve, reject }));
  const reader = new DocumentReader(read, (reading) => void kinds.push(JSON.stringify(reading)));
  context.after(() => reader.close());
  return { kinds, reader, answers };
}

suite("a document that is read again and again", () => {
  test("is known until a request fails; then it says why, keeps what was known, and is asked for again", async (context) => {
    const { kinds, reader, answers } = scripted(context);
    void reader.ask();
    answers[0]?.resolve(1);
    await settle();
    void reader.ask();
    answers[1]?.reject(Object.assign(new Error("no"), { status: 503 }));
    await settle();
    assert.deepEqual(kinds, ['{"kind":"known","data":1}', '{"kind":"unknown","why":"no","status":503,"last":1}']);
    context.mock.timers.tick(2_999);
    assert.equal(answers.length, 2);
    context.mock.timers.tick(1);
    assert.equal(answers.length, 3);
    answers[2]?.resolve(3);
    await settle();
    assert.equal(kinds.at(-1), '{"kind":"known","data":3}');
    context.mock.timers.tick(60_000);
    assert.equal(answers.length, 3, "what is known is not asked for by itself");
  });

  test("finishes a request that runs, however often it is asked: a slow server is heard", async (context) => {
    const { kinds, reader, answers } = scripted(context);
    for (let at = 0; at < 5; at += 1) void reader.ask();
    assert.equal(answers.length, 1);
    answers[0]?.resolve(1);
    await settle();
    assert.deepEqual([kinds.length, answers.length], [1, 2]);
  });

  test("says nothing any more when it is closed", async (context) => {
    const { kinds, reader, answers } = scripted(context);
    void reader.ask();
    reader.close();
    answers[0]?.resolve(1);
    await settle();
    context.mock.timers.tick(60_000);
    assert.deepEqual([kinds, answers.length], [[], 1]);
  });
});

suite("why a document is not known", () => {
  for (const [title, answer, why] of [
    [
      "a refusal with a message",
      () => respond(503, '{"message":"too busy"}'),
      /^GET \/events answered 503 after \d+ ms: too busy$/,
    ],
    ["a refusal of a proxy", () => respond(502, "<h1>Bad gateway"), /^GET \/events answered 502 after \d+ ms$/],
    [
      "a page in place of JSON",
      () => respond(200, "<p>Sign in"),
      /^GET \/events answered 200 after \d+ ms, and not with JSON/,
    ],
    [
      "no connection",
      () => Promise.reject(new TypeError("Failed to fetch")),
      /^GET \/events got no answer, after \d+ ms: rolecall does not run/,
    ],
  ] as const)
    test(title, async (context) => {
      withDocument(context);
      context.mock.method(globalThis, "fetch", answer);
      await assert.rejects(readInTurn("events?limit=3", new AbortController().signal), { message: why });
    });

  test("an answer that never comes is given up, and holds up the next for no longer", async (context) => {
    withDocument(context);
    context.mock.timers.enable({ apis: ["setTimeout"] });
    const never = (_: unknown, { signal }: { signal: AbortSignal }): Promise<never> =>
      new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(new Error("aborted")));
      });
    const fetched = context.mock.method(globalThis, "fetch", never);
    const { signal } = new AbortController();
    const first = readInTurn("edges", signal);
    fetched.mock.mockImplementationOnce(() => respond(200, "{}"), 1);
    const second = readInTurn("pools", signal);
    await settle();
    context.mock.timers.tick(15_000);
    await assert.rejects(first, { message: "GET /edges did not answer within 15.0 s" });
    assert.deepEqual(await second, {});
  });
});

function respond(status: number, body: string): Promise<Response> {
  return Promise.resolve(new Response(body, { status }));
}

function withDocument(context: TestContext): void {
  Object.assign(globalThis, { document: { baseURI: "http://edge/" } });
  context.after(() => void Reflect.deleteProperty(globalThis, "document"));
}
