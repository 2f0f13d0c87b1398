import type { Browser, Page } from "puppeteer-core";
import { hasBrowser, startBrowser } from "../../test/real/page/browser.ts";
import { serveNodes } from "../nodes.ts";
import { pause, Rolecall } from "../rolecall.ts";
import type { Row, RowMaker, Rounds } from "../row.ts";
import { median, show } from "../statistics.ts";

/** One node each: the rows are the same, and probing leaves the machine to the browser. */
const [clusters, nodes] = [1_000, 1];
/** How many changes are made in each round. */
const changesPerRound = 5;
/** How long the browser is left alone with a new window, in ms. */
const browserStartMs = 5_000;
/** How long a change may take to be drawn until the measurement counts as broken, in ms. */
const drawnMaxMs = 10_000;

/** When a page showed what, in ms after the beginning of the navigation. */
interface Opening {
  readonly paintMs: number;
  readonly rowsMs: number;
  readonly allMs: number;
}

/** What the script in the page has noted. */
interface Noted extends Opening {
  /** The longest task of the page so far, in ms; tasks of at most 50 ms are not reported by browsers. */
  readonly longestTaskMs: number;
  /** Cluster -> when the page drew it as drained, in ms since the epoch. */
  readonly drawnAtMs: { readonly [cluster: string]: number };
}

/** The live page in Chromium over a thousand clusters: how fast it opens, and how fast it shows a change. */
export const livePage: RowMaker = {
  name: "page",
  async run(rounds) {
    if (!hasBrowser()) return [{ name: "page", notRun: "Chromium is missing" }];
    const served = await serveNodes({ by: "constant", clusters, nodes, connections: "keep" });
    const rolecall = await Rolecall.start(served.clusters, {}, { core: "any", readyS: 120 });
    const browser = await startBrowser();
    try {
      return await measure(browser, rolecall, rounds);
    } finally {
      await browser.close();
      await rolecall.stop();
      await served.stop();
    }
  },
};

async function measure(browser: Browser, rolecall: Rolecall, { count, settleMs }: Rounds): Promise<readonly Row[]> {
  const url = `http://127.0.0.1:${rolecall.adminPort}/`;
  const openings: Noted[] = [];
  const changes: number[] = [];
  for (let round = 0; round < count; round += 1) {
    const context = await browser.createBrowserContext(); // nothing is in its cache
    const page = await context.newPage();
    await page.setViewport({ width: 1_280, height: 800 });
    await page.evaluateOnNewDocument(observe);
    // A new window loads pages of the browser's own, with more than 400 requests: ours is opened after them.
    await pause(browserStartMs);
    await page.goto(url, { waitUntil: "domcontentloaded", timeout: 60_000 });
    await page.waitForFunction("noted.allMs > 0", { timeout: 60_000 });
    // By name the changed clusters stay in sight, whatever happens to others.
    await page.select(".sort select", "name");
    await pause(settleMs);
    for (let at = 0; at < changesPerRound; at += 1)
      changes.push(await changeMs(page, url, `c${round * changesPerRound + at}`));
    await use(page);
    openings.push((await page.evaluate("noted")) as Noted);
    await context.close();
  }
  return rowsOf(openings, changes);
}

function rowsOf(openings: readonly Noted[], changes: readonly number[]): readonly Row[] {
  const of = (value: (opening: Noted) => number): number => median(openings.map(value));
  const rowsMs = of((opening) => opening.rowsMs);
  const longestMs = Math.max(...openings.map(({ longestTaskMs }) => longestTaskMs));
  const scale = `${clusters} clusters, medians of ${openings.length} openings`;
  return [
    {
      name: "page: ms until the first rows of the fleet are painted",
      figure: rowsMs,
      bound: { atMost: 1_000 },
      detail: `first paint after ${show(of(({ paintMs }) => paintMs))} ms, all rows known after ${show(of(({ allMs }) => allMs))} ms; ${scale}`,
    },
    {
      name: "page: ms from a change to its painting, the slowest",
      figure: Math.max(...changes),
      bound: { atMost: 200 },
      detail: `median ${show(median(changes))} ms of ${changes.length} drains, each from before its request`,
    },
    {
      name: "page: ms of the longest task",
      figure: longestMs,
      bound: { atMost: 100 },
      detail: "while the page opens, changes, searches and scrolls; tasks of up to 50 ms count as 0",
    },
  ];
}

/** Drains a node. @returns the time from before the request until the row is painted as drained, in ms */
async function changeMs(page: Page, url: string, cluster: string): Promise<number> {
  const sentAtMs = performance.timeOrigin + performance.now();
  const response = await fetch(`${url}drains/${cluster}/pg1`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ for: "1h", reason: "bench" }),
  });
  if (!response.ok) throw new Error(`Cannot change a cluster: a drain must be answered 200, got ${response.status}`);
  await page.waitForFunction(`noted.drawnAtMs.${cluster} > 0`, { timeout: drawnMaxMs, polling: 50 });
  return (((await page.evaluate("noted")) as Noted).drawnAtMs[cluster] ?? NaN) - sentAtMs;
}

/** Searches, clears the search and scrolls, as a user does. */
async function use(page: Page): Promise<void> {
  await page.keyboard.press("/");
  await page.keyboard.type("c99", { delay: 50 });
  for (let at = 0; at < 3; at += 1) await page.keyboard.press("Backspace");
  for (let at = 1; at <= 20; at += 1) {
    await page.evaluate(`scrollTo(0, ${at * 2_000})`);
    await pause(50);
  }
}

/**
 * Notes in the page when it painted what. The callback of a second frame runs after the first one was painted. Runs
 * before the scripts of the page.
 */
const observe = `
globalThis.noted = { paintMs: 0, rowsMs: 0, allMs: 0, longestTaskMs: 0, drawnAtMs: {} };
new PerformanceObserver((list) => {
  for (const { name, startTime } of list.getEntries()) if (name === "first-contentful-paint") noted.paintMs = startTime;
}).observe({ type: "paint", buffered: true });
new PerformanceObserver((list) => {
  for (const { duration } of list.getEntries()) noted.longestTaskMs = Math.max(noted.longestTaskMs, duration);
}).observe({ type: "longtask", buffered: true });
const painted = (note) => requestAnimationFrame(() => requestAnimationFrame(() => note(performance.now())));
const begun = new Set();
const once = (name, note) => begun.has(name) || (begun.add(name), painted(note));
new MutationObserver(() => {
  if (document.querySelector(".fleet-row") !== null) once("rows", (now) => (noted.rowsMs = now));
  if (document.querySelector(".chip b")?.textContent === "1000") once("all", (now) => (noted.allMs = now));
  for (const row of document.querySelectorAll(".fleet-row")) {
    const { cluster } = row.dataset;
    if (row.textContent.includes(" drained")) once("drained " + cluster, (now) => (noted.drawnAtMs[cluster] = performance.timeOrigin + now));
  }
}).observe(document, { childList: true, subtree: true, characterData: true, attributes: true });
`;
