import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test, type TestContext } from "node:test";
import type { Browser, Page } from "puppeteer-core";
import { defaultGuards } from "../../src/core/health/guards.ts";
import { startSimulator } from "../../src/tools/simulator/simulator.ts";
import { appOf, portFor } from "../app/app-fixture.ts";
import { clusterOf, configOf, listenerOf } from "../fake/config.ts";
import { until } from "../fake/until.ts";
import { hasBrowser, openPage, startBrowser, type WatchedPage } from "./page/browser.ts";

const admin = listenerOf({ dialect: "admin" });
const limit = { timeout: 120_000 };
const recorded = join("test", "spec", "incidents", "patroni-3717-lost-conninfo.yaml");
let browser: Browser;
let folder: string;

function sees({ text }: WatchedPage, selector: string, wanted: RegExp): Promise<string> {
  let last = "";
  return until({ what: `${selector}: ${String(wanted)}`, evidence: () => last }, async () => {
    last = await text(selector);
    return wanted.test(last) && last;
  });
}

/** The page of an App over one simulated cluster. */
async function openLab(
  context: TestContext,
): Promise<WatchedPage & { readonly url: string; readonly fault: (path: string) => Promise<void> }> {
  const simulator = await startSimulator({ nodes: 3, port: 0, ttlMs: 3_000, loopWaitMs: 500, retryTimeoutMs: 500 });
  context.after(() => simulator.stop());
  const guards = { ...defaultGuards, attachWindowMs: 2_000 };
  const cluster = clusterOf({ discover: simulator.nodes.map(({ url }) => url), guards });
  const config = configOf({ clusters: [cluster], listen: [admin] });
  const app = appOf(context, { ...config, probe: { ...config.probe, intervalMs: 400 } });
  await app.start();
  const url = `http://127.0.0.1:${portFor(app, admin)}/`;
  const fault = async (path: string): Promise<void> => {
    await fetch(`${simulator.nodes[2]?.url}/sim/${path}`, { method: "POST" });
  };
  return { url, fault, ...(await openPage(browser, url, context)) };
}

async function choose(page: Page, file: string): Promise<void> {
  const input = (await page.$(".file-input")) as unknown as { readonly uploadFile: (path: string) => Promise<void> };
  await input.uploadFile(file);
}

/** Waits for the modules of all views, which the page itself imports 1.5 s after its start. */
async function importViews(page: Page): Promise<void> {
  const views = ["cluster", "edges", "events", "node", "reasons"];
  await page.evaluate(`Promise.all(${JSON.stringify(views)}.map((name) => import("./page/views/" + name + ".js")))
    .then(() => true)`);
}

async function fileOf(name: string, text: string | Buffer): Promise<string> {
  const file = join(folder, name);
  await writeFile(file, text);
  return file;
}

/** `rolecall incident show FILE`, until Ctrl-C. */
async function showIncident(
  context: TestContext,
  file: string,
): Promise<{ readonly url: string; readonly interrupt: () => Promise<number | null> }> {
  const child = spawn(process.execPath, [join("dist", "main.js"), "incident", "show", file]);
  context.after(() => child.kill("SIGKILL"));
  let out = "";
  child.stdout.on("data", (chunk) => (out += String(chunk)));
  child.stderr.on("data", (chunk) => (out += String(chunk)));
  const url = await until(
    { what: "the URL", evidence: () => out },
    async () => /http:\/\/127\.0\.0\.1:\d+\/[\w-]+\/\?incident/.exec(out)?.[0] ?? false,
  );
  const interrupt = async (): Promise<number | null> => {
    const exit = once(child, "exit");
    child.kill("SIGINT");
    return (await exit)[0] as number | null;
  };
  return { url, interrupt };
}

if (!hasBrowser()) {
  test("incidents in a browser", (context) => context.diagnostic("not run: there is no Chromium"));
} else {
  describe("incidents in a browser", () => {
    before(async () => {
      [browser, folder] = await Promise.all([startBrowser(), mkdtemp(join(tmpdir(), "rolecall-past-"))]);
    });
    after(async () => {
      await browser.close();
      await rm(folder, { recursive: true });
    });

    test("rolecall incident show serves the page over a file, until Ctrl-C", limit, async (context) => {
      const { url, interrupt } = await showIncident(context, recorded);
      const watched = await openPage(browser, url, context);
      await sees(watched, ".past-bar", /Not live[^]*lost its primary_conninfo[^]*19\.0 s after/);
      await sees(watched, ".node.leader", /pg1[^]*primary/);
      await watched.page.keyboard.press("End");
      await sees(watched, ".apart", /pg2[^]*detached/);
      await sees(watched, ".events", /pg2 of demo is detached/);
      await watched.page.click(".apart-node a");
      await sees(watched, ".rules .decisive", /fails, decides[^]*not advanced for 51 s/);
      await watched.page.keyboard.press("Home");
      await sees(watched, ".lead", /pg2 is fit for \/replica/);
      assert.deepEqual(watched.problems, []);
      const { origin, pathname } = new URL(url);
      assert.equal((await fetch(`${origin}/`)).status, 404, "without the secret nothing is served");
      assert.equal((await fetch(`${origin}${pathname}incident-file`, { method: "POST" })).status, 405);
      assert.equal((await fetch(`${origin}${pathname}..%2f..%2fpackage.json`)).status, 404);
      assert.equal(await interrupt(), 0);
    });

    test("a file opens in the page without a request, and closing it returns to live", limit, async (context) => {
      const lab = await openLab(context);
      await sees(lab, ".connection", /Live/);
      await until("the worker", async () => lab.page.workers().length > 0);
      await until("its scripts", async () =>
        lab.page
          .workers()[0]
          ?.evaluate("typeof rolecallCore")
          .then((type) => type === "object"),
      );
      await importViews(lab.page);
      const requests: string[] = [];
      lab.page.on("request", (request) => requests.push(request.url()));
      await lab.page.setOfflineMode(true);
      await choose(lab.page, recorded);
      await sees(lab, ".past-bar", /lost its primary_conninfo/);
      assert.match(await lab.text(".connection"), /Past/);
      await lab.page.keyboard.press("End");
      await sees(lab, ".apart", /pg2[^]*detached/);
      assert.deepEqual(requests, []);
      await lab.page.setOfflineMode(false);
      await lab.page.keyboard.press("Escape");
      await sees(lab, ".connection", /Live/);
      await sees(lab, ".node.leader", /pg1/);
      assert.equal(await lab.text(".past-bar"), "");
    });

    test("files that are no incidents are refused with a text, and the page goes on", limit, async (context) => {
      const lab = await openLab(context);
      await sees(lab, ".connection", /Live/);
      const hostile = "<img src=x onerror=alert(1)>";
      const head = `name: "${hostile}"\nwhy: "<script>alert(1)</script>"\ncluster: { name: "${hostile}", nodes: ["${hostile}"] }\n`;
      for (const [name, content, message] of [
        ["cut.yaml", `format: 1\n${head}steps:\n  - at: 0s\n`, /its last key must be end, got a file that is cut off/],
        ["newer.yaml", `format: 3\n${head}steps: []\nend: 0s\n`, /cut|format: it must be 1/],
        ["list.yaml", "- 1\n", /list\.yaml: it must be a mapping/],
        ["binary.yaml", Buffer.from([0, 255, 1, 254, 123]), /Cannot read binary\.yaml/],
        ["wrong.yaml", `${head}steps: [{ at: 0s, nodes: { "<b>": {} } }]\n`, /unknown key <b>/],
        ["large.yaml", Buffer.alloc(33 * 2 ** 20, "#"), /at most 32 MB, got 33 MB/],
        [
          "bomb.yaml",
          `a: &a [1,1,1,1,1,1,1,1,1,1]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: [*c,*c,*c,*c,*c,*c]\n`,
          /Cannot read bomb\.yaml/,
        ],
      ] as const) {
        await choose(lab.page, await fileOf(name, content));
        await sees(lab, ".past-problem", message);
        assert.match(await lab.text(".connection"), /Live/);
      }
      await choose(
        lab.page,
        await fileOf("markup.yaml", `${head}steps: [{ at: 0s, nodes: { "${hostile}": { lock: true } } }]\n`),
      );
      await sees(lab, ".past-bar", /<img src=x[^]*<script>alert/);
      await sees(lab, ".node", /<img src=x/);
      assert.equal(await lab.page.$("main img, main script, .past-bar img, .past-bar script"), null);
      assert.deepEqual(lab.problems, []);
    });

    test("the live page looks back: the cluster as it was, then plays, then live again", limit, async (context) => {
      const lab = await openLab(context);
      await sees(lab, ".fleet", /2 of 2/);
      await lab.page.click("a[title=demo]");
      await sees(lab, ".node.leader", /pg1/);
      await lab.fault("pg2/detach");
      await sees(lab, ".apart", /pg2[^]*detached/);
      await lab.page.click(".past-entry button");
      await sees(lab, ".past-bar", /Not live[^]*demo as it was/);
      assert.match(await lab.text(".connection"), /Past/);
      await sees(lab, ".apart", /pg2[^]*detached/);
      await lab.page.keyboard.press("Home");
      await sees(lab, ".flow", /pg1[^]*pg2[^]*pg3/);
      assert.equal(await lab.text(".apart"), "");
      const age = await lab.text(".node.leader");
      await lab.page.select(".past-controls select", "64");
      assert.equal(await lab.text(".node.leader"), age, "ages are those of the instant: they do not count on");
      await lab.page.click(".past-controls .play");
      await sees(lab, ".apart", /pg2[^]*detached/);
      await sees(lab, ".past-controls .play", /Play/);
      const save = await lab.page.$eval(".past-controls .save", (link) => link.getAttribute("href"));
      // The server renders one incident at a time, and not too often.
      const saved = await until("the saved incident", async () => {
        const reply = await fetch(new URL(String(save), lab.url));
        return reply.status === 200 && (await reply.text());
      });
      assert.match(saved, /^format: [12]\n[^]*\nend: \S+\n$/);
      await lab.page.click(".to-live");
      await sees(lab, ".connection", /Live/);
      await sees(lab, ".apart", /pg2[^]*detached/);
      assert.equal(await lab.text(".past-bar"), "");
      assert.deepEqual(lab.problems, []);
    });
  });
}
