import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Browser, Page } from "puppeteer-core";
import { appOf, portFor } from "../app/app-fixture.ts";
import { clusterOf, configOf, listenerOf, nodeOf } from "../fake/config.ts";
import { until } from "../fake/until.ts";
import { hasBrowser, openPage, startBrowser } from "./page/browser.ts";
import { sees } from "./page/lab.ts";

const admin = listenerOf({ dialect: "admin" });
const limit = { timeout: 120_000 };
/** Rows that fit into a window of 800 px, and those beyond it that are drawn too. */
const drawnMax = 60;
/** Nobody listens on this port, so each node is probed once and then seldom: nothing changes but what the test does. */
const unused = "http://127.0.0.1:9";
const hourMs = 3_600_000;
const seldom = { intervalMs: hourMs, clusterIntervalMs: hourMs, configIntervalMs: hourMs, maxAgeMs: 2 * hourMs };
let browser: Browser;

/** A message of the stream, as the browser received it. */
interface StreamMessage {
  readonly name: string;
  readonly rows: readonly { readonly cluster: string; readonly drains: number }[];
}

/** Collects the messages of the page's stream. */
async function messagesOf(page: Page): Promise<readonly StreamMessage[]> {
  const messages: StreamMessage[] = [];
  const session = await page.createCDPSession();
  await session.send("Network.enable");
  session.on("Network.eventSourceMessageReceived", ({ eventName: name, data }) => {
    messages.push({ name, rows: name === "rows" ? JSON.parse(data).rows : [] });
  });
  return messages;
}

if (!hasBrowser()) {
  test("the live page with a thousand clusters", (context) => context.diagnostic("not run: there is no Chromium"));
} else {
  describe("the live page with a thousand clusters", () => {
    before(async () => {
      browser = await startBrowser();
    });
    after(() => browser.close());

    test(
      "rows come before they are complete, only those in sight are drawn, and one change sends one row",
      limit,
      async (context) => {
        const nodes = [nodeOf({ name: "pg1", api: unused })];
        const clusters = Array.from({ length: 1_000 }, (_, at) => clusterOf({ name: `db${at}`, nodes }));
        const config = configOf({ clusters, listen: [admin] });
        const app = appOf(context, { ...config, probe: { ...config.probe, ...seldom } });
        await app.start();
        const url = `http://127.0.0.1:${portFor(app, admin)}/`;
        const watched = await openPage(browser, "about:blank", context);
        const { page } = watched;
        const messages = await messagesOf(page);
        await page.evaluateOnNewDocument(markFirstRow);
        await page.goto(url, { waitUntil: "domcontentloaded", timeout: 60_000 });
        await sees(watched, ".filters", /all 1000/);
        await sees(watched, ".connection", /Live/);
        const order = (await page.evaluate(
          "performance.getEntries().filter(({ name }) => name === 'first-contentful-paint' || name === 'first-row').sort((one, other) => one.startTime - other.startTime).map(({ name }) => name)",
        )) as readonly string[];
        assert.deepEqual([...new Set(order)].sort(), ["first-contentful-paint", "first-row"]);
        assert.ok((await page.$$(".fleet-row")).length < drawnMax);
        const names = messages.map(({ name }) => name);
        assert.deepEqual(
          [...new Set(names)].filter((name) => name !== "heartbeat"),
          ["hello", "rows", "ready"],
        );
        const sent = messages.flatMap(({ rows }) => rows.map(({ cluster }) => cluster));
        assert.equal(new Set(sent).size, 1_000);

        await page.keyboard.press("/");
        await page.keyboard.type("db777");
        await until("one row", async () => (await page.$$(".fleet-row")).length === 1);
        const body = JSON.stringify({ for: "1h", reason: "bench" });
        const headers = { "content-type": "application/json" };
        const drained = await fetch(`${url}drains/db777/pg1`, { method: "POST", headers, body });
        assert.equal(drained.status, 200);
        await sees(watched, ".fleet-row", /db777[^]*1 drained/);
        const changes = messages.filter(({ rows }) =>
          rows.some(({ cluster, drains }) => cluster === "db777" && drains > 0),
        );
        assert.deepEqual(
          changes.map(({ rows }) => rows.length),
          [1],
          "one message, with this row alone",
        );

        for (let at = 0; at < "db777".length; at += 1) await page.keyboard.press("Backspace");
        await page.evaluate("document.activeElement.blur()");
        await page.waitForSelector(".fleet-row:nth-child(20)");
        await page.evaluate("scrollTo(0, document.body.scrollHeight)");
        await until("the last row", async () => (await page.$(`.fleet-row[aria-rowindex="1001"]`)) !== null);
        assert.ok((await page.$$(".fleet-row")).length < drawnMax);
        assert.deepEqual(
          watched.problems.filter((problem) => !problem.startsWith("request:")),
          [],
        );
      },
    );
  });
}

/** Marks the instant at which the first row is in the document. Runs in the page. */
const markFirstRow = `
new MutationObserver((_, observer) => {
  if (document.querySelector(".fleet-row") === null) return;
  performance.mark("first-row");
  observer.disconnect();
}).observe(document, { childList: true, subtree: true });
`;
