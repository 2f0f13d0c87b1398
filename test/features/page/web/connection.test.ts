import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";

interface Connection {
  open(): void;
  close(): void;
}

// The page is plain JavaScript, which the compiler does not read: its modules are imported by their address.
const { Connection: FollowedStream } = (await import(
  new URL("../../../../src/features/page/web/live/connection.js", import.meta.url).href
)) as {
  readonly Connection: new (
    query: string,
    handlers: { readonly onMessage: () => void; readonly onState: (state: string) => void },
  ) => Connection;
};

/** A page whose stream is refused with 429, on a clock of its own. */
class BusyServerPage {
  readonly states: string[] = [];
  requests = 0;
  readonly #document = Object.assign(new EventTarget(), { baseURI: "http://edge/", visibilityState: "visible" });
  readonly #window = new EventTarget();
  readonly #context: TestContext;
  readonly #sources: { isOpen: boolean; dispatchEvent(event: Event): boolean }[] = [];
  #nowMs = 0;

  constructor(context: TestContext, retryAfter: number) {
    this.#context = context;
    const { mock } = context;
    const sources = this.#sources;
    mock.timers.enable({ apis: ["setTimeout"] });
    mock.method(performance, "now", () => this.#nowMs);
    mock.method(globalThis, "fetch", async () => {
      this.requests += 1;
      const headers = new Headers({ "retry-after": String(retryAfter) });
      return Promise.resolve({ type: "basic", status: 429, headers });
    });
    const source = class extends EventTarget {
      isOpen = true;
      constructor() {
        super();
        sources.push(this);
      }
      close(): void {
        this.isOpen = false;
      }
    };
    const stubs = { document: this.#document, window: this.#window, EventSource: source };
    Object.assign(globalThis, stubs);
    const connection = new FollowedStream("", {
      onMessage: () => {},
      onState: (state) => void this.states.push(state),
    });
    context.after(() => {
      connection.close();
      for (const name of Object.keys(stubs)) Reflect.deleteProperty(globalThis, name);
    });
    connection.open();
  }

  get openStreams(): number {
    return this.#sources.filter(({ isOpen }) => isOpen).length;
  }

  /** The browser leaves the page, and keeps it for the way back. */
  leave(): void {
    this.#window.dispatchEvent(new Event("pagehide"));
    this.show("hidden");
  }

  /** The browser comes back. Not every browser reports both events. */
  comeBack(reports: "pageshow" | "both"): void {
    this.#document.visibilityState = "visible";
    this.#window.dispatchEvent(new Event("pageshow"));
    if (reports === "both") this.show("visible");
  }

  refuse(): void {
    this.#sources.at(-1)?.dispatchEvent(new Event("error"));
  }

  show(visibilityState: "visible" | "hidden"): void {
    this.#document.visibilityState = visibilityState;
    this.#document.dispatchEvent(new Event("visibilitychange"));
  }

  async wait(seconds: number): Promise<void> {
    for (let tick = 0; tick < seconds * 10; tick += 1) {
      this.#nowMs += 100;
      this.#context.mock.timers.tick(100);
      await new Promise((resolve) => void setImmediate(resolve));
    }
  }
}

test("a page that is shown before the time that the server asks for tries again at that time", async (context) => {
  const page = new BusyServerPage(context, 40);
  page.refuse();
  await page.wait(1);
  assert.equal(page.requests, 1);
  page.show("hidden");
  await page.wait(21);
  assert.equal(page.states.at(-1), "paused");
  page.show("visible");
  await page.wait(17);
  assert.equal(page.requests, 1, "it does not try sooner");
  await page.wait(3);
  assert.equal(page.requests, 2);
});

test("a page that is shown after that time tries at once", async (context) => {
  const page = new BusyServerPage(context, 10);
  page.refuse();
  await page.wait(1);
  assert.equal(page.requests, 1);
  page.show("hidden");
  await page.wait(60);
  const hidden = page.requests;
  page.show("visible");
  await page.wait(0.1);
  assert.equal(page.requests, hidden + 1);
});

test("a page that is shown again and again tries no sooner, and once", async (context) => {
  const page = new BusyServerPage(context, 40);
  page.refuse();
  await page.wait(1);
  for (let count = 0; count < 20; count += 1) {
    page.show("hidden");
    page.show("visible");
    await page.wait(1);
  }
  assert.equal(page.requests, 1);
  await page.wait(21);
  assert.equal(page.requests, 2);
});

for (const reports of ["pageshow", "both"] as const)
  test(`a page that the browser leaves closes its stream at once, and follows again when it comes back (${reports})`, async (context) => {
    const page = new BusyServerPage(context, 0);
    assert.equal(page.openStreams, 1);
    for (let count = 1; count <= 6; count += 1) {
      page.leave();
      assert.equal(page.openStreams, 0);
      assert.equal(page.states.at(-1), "paused");
      page.comeBack(reports);
      await page.wait(0.1);
      assert.equal(page.requests, count, "one request asks whether the stream may open");
    }
  });
