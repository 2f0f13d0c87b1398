import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Page } from "puppeteer-core";
import { App } from "../../../src/app/app.ts";
import { startSimulator } from "../../../src/tools/simulator/simulator.ts";
import { clusterOf, configOf, listenerOf } from "../../fake/config.ts";
import { silentLogger } from "../../fake/silent-logger.ts";
import { startBrowser } from "./browser.ts";

/**
 * Takes the pictures of the documents over simulated clusters: `npm run screenshots`. With a folder, takes every view
 * in every width there instead, light and dark, for a look at the design: `npm run screenshots -- /tmp/pictures`.
 */
const folder = process.argv[2];
const images = folder ?? "docs/images";
const scopes = ["billing", "catalog", "orders", "reports", "search", "users"] as const;
type Scope = (typeof scopes)[number];
const widths = [390, 1_280, 2_560];
/** How long after the loss of the primary the picture of a failover is taken, in ms: its successor takes longer. */
const failoverShownMs = 3_000;

/** Pictures of every view take longer than a failover of the documents. */
const ttlMs = folder === undefined ? 8_000 : 90_000;

const simulators = await Promise.all(
  scopes.map((scope) => startSimulator({ nodes: 3, port: 0, scope, ttlMs, loopWaitMs: 1_000, retryTimeoutMs: 1_000 })),
);
const clusters = simulators.map(({ nodes }, at) =>
  clusterOf({ name: scopes[at] ?? "", scope: scopes[at] ?? "", discover: nodes.map(({ url }) => url) }),
);
const listen = [listenerOf({ dialect: "admin" }), listenerOf({})];
const app = new App(configOf({ clusters, listen }), silentLogger);
const browser = await startBrowser();
try {
  await mkdir(images, { recursive: true });
  await app.start();
  const url = `http://127.0.0.1:${app.listeners[0]?.port ?? 0}/`;
  await makeTrouble(url);
  const page = await browser.newPage();
  if (folder === undefined) await takePictures(page, url);
  else await takeAll(page, url);
} finally {
  await browser.close();
  await app.stop({ drains: false });
  await Promise.all(simulators.map((simulator) => simulator.stop()));
}

async function fault(scope: Scope, path: string): Promise<void> {
  const answer = await fetch(`${simulators[scopes.indexOf(scope)]?.nodes[0]?.url}/sim/${path}`, { method: "POST" });
  if (!answer.ok) throw new Error(`Cannot cause a fault: ${path} must be known, got ${answer.status}`);
}

/** One cluster of each kind of trouble, and time for it to show. */
async function makeTrouble(url: string): Promise<void> {
  await fault("search", "pg2/detach");
  await fault("reports", "pg3/lag?bytes=94371840");
  await fault("orders", "pg2/claim");
  setInterval(() => {
    for (const scope of scopes) {
      for (const node of ["pg1", "pg2", "pg3"]) {
        check(`clusters/${scope}/nodes/${node}/replica?lag=16MB`, `${scope}_read/${node}`).catch(() => {});
        check(`clusters/${scope}/nodes/${node}/primary`, `${scope}_write/${node}`).catch(() => {});
      }
    }
  }, 2_000).unref();
  const headers = { "content-type": "application/json" };
  const body = JSON.stringify({ for: "1h", reason: "kernel update", by: "ann" });
  await fetch(`${url}drains/users/pg3`, { method: "POST", headers, body });
  await pause(25_000);
}

/** Requests a check, as a balancer would. @param server of HAProxy, with its backend */
async function check(path: string, server: string): Promise<void> {
  const port = app.listeners.find(({ config }) => config.dialect === "node")?.port ?? 0;
  const headers = { "x-haproxy-server-state": `UP 2/3; name=${server}; node=lb1; weight=1/1; scur=0/1; qcur=0` };
  await fetch(`http://127.0.0.1:${port}/${path}`, { headers });
}

async function show(page: Page, address: string, scheme: "light" | "dark", width: number): Promise<void> {
  await page.setViewport({ width, height: width < 600 ? 812 : 800 });
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
  if (page.url() !== address) await page.goto(address, { waitUntil: "domcontentloaded", timeout: 120_000 });
  await page.waitForSelector("main h1:not(.loading)", { timeout: 120_000 });
  await pause(folder === undefined ? 3_000 : 1_000);
}

async function takePictures(page: Page, url: string): Promise<void> {
  const take = async (name: string): Promise<void> =>
    void (await page.screenshot({ path: join(images, `${name}.png`) }));
  await show(page, url, "light", 1_280);
  await take("fleet");
  await show(page, url, "dark", 375);
  await take("fleet-narrow");
  await show(page, `${url}#/clusters/search/nodes/pg2`, "light", 1_280);
  await take("explain");
  await show(page, `${url}#/clusters/search`, "dark", 1_280);
  await take("cluster-dark");
  await show(page, `${url}#/clusters/billing`, "light", 1_280);
  await pause(5_000);
  await fault("billing", "pg1/kill");
  await page.waitForSelector(".banner.bad", { timeout: 60_000 });
  await pause(failoverShownMs);
  await take("failover");
}

async function takeAll(page: Page, url: string): Promise<void> {
  await fault("billing", "pg1/kill");
  await pause(failoverShownMs);
  for (const view of [
    "",
    "clusters/billing",
    "clusters/billing/nodes/pg1",
    "clusters/orders",
    "clusters/catalog",
    "clusters/search",
    "clusters/reports",
    "clusters/search/nodes/pg2",
    "events",
    "edges",
    "reasons",
  ])
    for (const scheme of ["light", "dark"] as const)
      for (const width of widths) {
        await show(page, `${url}#/${view}`, scheme, width);
        const name = `${view.replace(/\W+/g, "-") || "fleet"}-${width}-${scheme}.png`;
        await page.screenshot({ path: join(images, name), fullPage: true });
      }
}
