import assert from "node:assert/strict";
import { createServer, request as sendOn, type RequestListener } from "node:http";
import { after, before, describe, test, type TestContext } from "node:test";
import type { Browser } from "puppeteer-core";
import { appOf, fixedCluster, portFor, withQuickProbes } from "../app/app-fixture.ts";
import { configOf, listenerOf } from "../fake/config.ts";
import { openFakeCluster } from "../fake/fake-node.ts";
import { listenDuringTest } from "../fake/listen.ts";
import { until } from "../fake/until.ts";
import { hasBrowser, openPage, startBrowser } from "./page/browser.ts";
import { openLab, sees } from "./page/lab.ts";

const admin = listenerOf({ dialect: "admin" });
const limit = { timeout: 120_000 };
let browser: Browser;

/** What a proxy answers in place of the stream; `null` passes it on. */
type Refusal = { readonly status: number; readonly headers?: Record<string, string> } | null;

/** A proxy before an App that can refuse the stream. */
async function openGate(
  context: TestContext,
  target: string,
): Promise<{ readonly url: string; readonly refuse: (refusal: Refusal) => void; readonly asked: () => number }> {
  let refusal: Refusal = null;
  let asked = 0;
  const open = new Set<{ destroy: () => void }>();
  const listener: RequestListener = (message, response) => {
    const isStream = (message.url ?? "").startsWith("/events/stream");
    if (isStream && refusal !== null) {
      asked += 1;
      return void response.writeHead(refusal.status, refusal.headers).end();
    }
    const { method, headers, url = "" } = message;
    const upstream = sendOn(new URL(url, target), { method, headers, agent: false }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    if (isStream) open.add(response);
    upstream.on("error", () => response.destroy());
    response.on("close", () => upstream.destroy());
    message.pipe(upstream);
  };
  const server = createServer(listener);
  const port = await listenDuringTest(context, server);
  const refuse = (next: Refusal): void => {
    refusal = next;
    for (const response of open) response.destroy();
    open.clear();
  };
  return { url: `http://127.0.0.1:${port}/`, refuse, asked: () => asked };
}

if (!hasBrowser()) {
  test("the connection of the live page", (context) => context.diagnostic("not run: there is no Chromium"));
} else {
  describe("the connection of the live page", () => {
    before(async () => {
      browser = await startBrowser();
    });
    after(() => browser.close());

    test("the banner says why the stream is refused, ages go on, and the page recovers", limit, async (context) => {
      const nodes = await openFakeCluster(context, ["pg1"]);
      const app = appOf(context, withQuickProbes(configOf({ clusters: [fixedCluster(nodes)], listen: [admin] })));
      await app.start();
      const gate = await openGate(context, `http://127.0.0.1:${portFor(app, admin)}/`);
      const watched = await openPage(browser, gate.url, context);
      // A page that is shown again tries again at once: the test does not wait for the next attempt.
      const comeBack = "document.dispatchEvent(new Event('visibilitychange'))";
      await sees(watched, ".connection", /Live/);
      for (const [refusal, reason] of [
        [{ status: 401 }, /requires credentials \(401\)/],
        [{ status: 403 }, /\(403\)/],
        [{ status: 302, headers: { location: "/login" } }, /A redirect is received/],
        [{ status: 200, headers: { "content-type": "text/html" } }, /A page is received/],
        [{ status: 502 }, /answers 502/],
      ] as const) {
        gate.refuse(refusal);
        await until(`status ${refusal.status}`, async () => {
          await watched.page.evaluate(comeBack);
          return reason.test(await watched.text("#app > .banner"));
        });
        assert.match(await watched.text("#app > .banner"), /Connection to rolecall lost[^]*Nothing arrived for/);
      }
      await sees(watched, ".fleet-row .age", /^[2-9]\.\d s$|^\d\d s$/);
      gate.refuse(null);
      await until("a new stream", async () => {
        await watched.page.evaluate(comeBack);
        return /Live/.test(await watched.text(".connection"));
      });
      assert.equal(await watched.text("#app > .banner"), "");
    });

    test("a server with too many streams is not pressed, however often the page is shown", limit, async (context) => {
      const nodes = await openFakeCluster(context, ["pg1"]);
      const app = appOf(context, withQuickProbes(configOf({ clusters: [fixedCluster(nodes)], listen: [admin] })));
      await app.start();
      const gate = await openGate(context, `http://127.0.0.1:${portFor(app, admin)}/`);
      const watched = await openPage(browser, gate.url, context);
      await sees(watched, ".connection", /Live/);
      gate.refuse({ status: 429, headers: { "retry-after": "60" } });
      await sees(watched, "#app > .banner", /Too many streams are open \(429\): at most 16/);
      const asked = gate.asked();
      for (let count = 0; count < 20; count += 1)
        await watched.page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
      await sees(watched, ".fleet-row .age", /^[4-9]\.\d s$/);
      assert.equal(gate.asked(), asked);
    });

    test("two pages of one browser are live at once", limit, async (context) => {
      const lab = await openLab(browser, context, ["demo"]);
      // Only the page in front is drawn.
      await sees(lab, ".connection", /Live/);
      const second = await openPage(browser, `${lab.url}#/clusters/demo`, context);
      await sees(second, ".connection", /Live/);
      await lab.fault("pg2/kill");
      await sees(second, ".apart", /pg2[^]*down/);
      await lab.page.bringToFront();
      await sees(lab, ".fleet-row", /pg2 down/);
      const edges = (await (await fetch(`${lab.url}edges`)).json()) as { readonly streams: { readonly open: number } };
      assert.equal(edges.streams.open, 2);
      assert.deepEqual([...lab.problems, ...second.problems], []);
    });

    test("the focus stays when rows and nodes change their places", limit, async (context) => {
      const lab = await openLab(browser, context, ["zeta", "alpha"]);
      const { page } = lab;
      const focused = "document.activeElement.textContent.trim()";
      const order = async (): Promise<unknown> =>
        page.evaluate("[...document.querySelectorAll('.fleet-row a[title]')].map(({ title }) => title).join()");
      await sees(lab, ".fleet", /alpha[^]*2 of 2[^]*zeta[^]*2 of 2/);
      await page.focus("a[title=zeta]");
      await lab.fault("pg2/kill");
      await until("zeta first", async () => String(await order()).startsWith("zeta"));
      assert.equal(await page.evaluate(focused), "zeta");
      await page.focus("a[title=alpha]");
      await lab.fault("pg2/heal");
      await until("alpha first", async () => String(await order()).startsWith("alpha"));
      assert.equal(await page.evaluate(focused), "alpha");
      await page.goto(`${lab.url}#/clusters/zeta`);
      await sees(lab, ".flow ul", /pg2[^]*pg3/);
      await page.focus(".topology a[title=pg1]");
      await lab.fault("pg1/kill");
      await sees(lab, ".apart", /pg1[^]*down/);
      assert.equal(await page.evaluate(focused), "pg1");
      assert.equal(await page.evaluate("document.activeElement.closest('.apart') !== null"), true);
      await page.evaluate("document.activeElement.blur()");
      await lab.fault("pg1/heal");
      await sees(lab, ".flow ul", /pg1/);
      assert.equal(await page.evaluate("document.activeElement === document.body"), true, "what was left stays left");
    });
  });
}
