import assert from "node:assert/strict";
import { after, before, describe, test, type TestContext } from "node:test";
import type { Browser, HTTPRequest } from "puppeteer-core";
import type { App } from "../../src/app/app.ts";
import { plainCheck } from "../../src/core/health/check.ts";
import { startSimulator } from "../../src/tools/simulator/simulator.ts";
import { appOf, portFor, whole, withQuickProbes } from "../app/app-fixture.ts";
import { clusterOf, configOf, haproxyBackendOf, listenerOf } from "../fake/config.ts";
import { until } from "../fake/until.ts";
import { hasBrowser, openPage, startBrowser, type WatchedPage } from "./page/browser.ts";
import { sees } from "./page/lab.ts";

/** What becomes of the requests of the page beside its stream. */
type Fate = "pending" | "refused" | "cut" | "replaced" | "answered";

const admin = listenerOf({ dialect: "admin" });
const limit = { timeout: 300_000 };
/** What only somebody may say who knows. Words of legends, of buttons and of what the stream told are not meant. */
const claims =
  /nothing changed|none since|not recorded|nothing happened|no lag is recorded|no check of this cluster requested|as it should be|seen to work|clients get through|nothing refers|no balancer is configured/i;
const documents = [
  "audit",
  "edges",
  "events",
  "explain",
  "lag",
  "limits",
  "pools",
  "reasons.json",
  "status",
  "verdicts",
];
/** Documents, a view that asks for each, and what that may not say without it. */
const alone: readonly (readonly [string, string, RegExp])[] = [
  ["events", "", /nothing changed/],
  ["events", "events", /nothing happened/i],
  ["lag", "clusters/demo", /no lag is recorded|as far as it was recorded/i],
  ["limits", "clusters/demo", /no check of this cluster requested/i],
  ["audit", "clusters/demo", /clients get through|seen to work|nobody looks/i],
  ["status", "clusters/demo", /nobody looks/i],
  ["verdicts", "clusters/demo", /not recorded/i],
  ["verdicts", "clusters/demo/nodes/pg2", /none since/i],
  ["explain", "clusters/demo/nodes/pg2", /is fit for/],
  ["edges", "edges", /no balancer is configured/i],
  ["pools", "edges", /nothing refers/i],
  ["audit", "edges", /as it should be|no balancer or pooler is configured/i],
  ["reasons.json", "reasons/down", /there is no reason/i],
];
/** The views, with the panels of each: what they show of a request that was answered, of one that is under way, and of one that failed. */
const views = [
  { path: "", panels: [".recent"] },
  {
    path: "clusters/demo",
    panels: [
      ".recent",
      "[aria-labelledby=road]",
      "[aria-labelledby=lag]",
      "[aria-labelledby=past]",
      "[aria-labelledby=events]",
    ],
  },
  {
    path: "clusters/demo/nodes/pg2",
    panels: ["[aria-labelledby=explain]", "[aria-labelledby=changes]", "[aria-labelledby=limits]"],
  },
  { path: "events", panels: ["main"] },
  { path: "edges", panels: ["main"] },
  { path: "reasons", panels: ["main"] },
] as const;

/** The files of the page, and what says who uses it. */
function isOwn(path: string): boolean {
  return /\/page\/(?!reasons\.json)|\/session$|\/$/.test(path);
}

let browser: Browser;

if (!hasBrowser()) {
  test("the readings of the page", (context) => context.diagnostic("not run: there is no Chromium"));
} else {
  describe("no panel of the page says that nothing is, unless it knows", () => {
    before(async () => {
      browser = await startBrowser();
    });
    after(() => browser.close());

    for (const [fate, wanted] of [
      ["pending", /reading/i],
      ["refused", /not known[^]*get \/\S+ answered 503 after [\d.]+ m?s: it is full/i],
      ["cut", /not known[^]*got no answer, after [\d.]+ m?s/i],
      ["replaced", /not known[^]*answered 200 after [\d.]+ m?s, and not with JSON/i],
      ["answered", null],
    ] as const)
      test(`while requests are ${fate}`, limit, async (context) => {
        const { watched, url, asked } = await openFated(context, (path) =>
          path.endsWith("/stream") ? "answered" : fate,
        );
        const texts: string[] = [];
        for (const { path, panels } of views) {
          await watched.page.goto(`${url}#/${path}`);
          await sees(watched, "main h1:not(.loading)", /\w/);
          await sees(watched, ".connection", /Live/);
          for (const panel of panels) {
            if (wanted !== null) await sees(watched, panel, wanted);
            else await until(`${path} ${panel} is read`, async () => (await pendingIn(watched, panel)) === 0);
          }
          const text = await watched.text("main");
          texts.push(text);
          if (fate !== "answered") assert.doesNotMatch(text, claims, `${path} while requests are ${fate}`);
          const said = await labels(watched);
          if (fate !== "answered") assert.doesNotMatch(said, claims, `labels of ${path} while requests are ${fate}`);
        }
        if (fate === "answered") assert.match(texts.join("\n"), claims, "the words are those of the page");
        const missing = documents.filter((name) => !asked.has(name));
        // The page asks for one after the other: the first that is pending holds the others up.
        if (fate !== "pending") assert.deepEqual(missing, [], "each of these is asked for");
      });

    for (const fate of ["pending", "refused"] as const)
      test(`while each of the requests alone is ${fate}`, limit, async (context) => {
        let chosen = "";
        const { watched, url } = await openFated(context, (path) => (path.endsWith(`/${chosen}`) ? fate : "answered"));
        for (const [name, path, words] of alone) {
          chosen = name;
          await watched.page.goto("about:blank");
          await watched.page.goto(`${url}#/${path}`);
          await sees(
            watched,
            "main",
            fate === "pending" ? /reading/i : new RegExp(`GET /\\S*${name} answered 503`, "i"),
          );
          assert.doesNotMatch(
            `${await watched.text("main")} ${await labels(watched)}`,
            words,
            `${path} without ${name}`,
          );
        }
      });

    for (const [fate, wanted] of [
      ["pending", /reading what changed[^]*all\s*–[^]*Reading clusters/],
      ["refused", /not known what changed|Not known: clusters/i],
      ["cut", /not known what changed|Not known: clusters/i],
    ] as const)
      test(`while the stream is ${fate}`, limit, async (context) => {
        const { watched, url } = await openFated(context, (path) => (path.endsWith("/stream") ? fate : "answered"));
        await watched.page.goto(url);
        await sees(watched, "main", wanted);
        assert.doesNotMatch(await watched.text("main"), /nothing changed|problems\s*0|No cluster is monitored/);
        assert.match(await watched.page.title(), /^\(\?\)/);
        await watched.page.goto(`${url}#/clusters/demo`);
        await sees(
          watched,
          "main",
          fate === "pending" ? /Reading the cluster/ : /Not known: the cluster\. Nothing arrived/,
        );
        assert.doesNotMatch(await watched.text("main"), claims);
      });

    test("a stream that is cut: what was known is said to be old", limit, async (context) => {
      let fate: Fate = "answered";
      const { watched, url, app } = await openFated(context, (path) => (path.endsWith("/stream") ? fate : "answered"));
      await watched.page.goto(`${url}#/clusters/demo`);
      await sees(watched, ".situation", /Nothing is wrong/);
      await sees(watched, ".recent", /1 event|\d events/);
      fate = "cut";
      await app.stop({ drains: false });
      await sees(watched, ".situation", /Not known what is: not updated for [\d.]+ s/);
      await sees(watched, ".recent", /and not known what else: nothing arrived from rolecall for/);
      assert.match(await watched.page.title(), /^\(\?\)/);
      assert.ok(await watched.page.$("main.lost"));
    });

    for (const [path, said] of [
      ["nonsense", /There is no view at #\/nonsense\.\s+Overview of all clusters/],
      ["clusters/nosuch", /does not monitor a cluster nosuch[^]*Overview of all clusters/],
      ["clusters/nosuch/nodes/pg1", /does not monitor a cluster nosuch[^]*Overview of all clusters/],
      ["clusters/demo/nodes/nosuch", /demo has no node nosuch\.\s+Cluster demo\s+Overview of all clusters/],
      ["clusters/demo/at/nonsense", /There is no view at/],
      ["reasons/nosuch", /There is no reason nosuch/],
    ] as const)
      test(`#/${path} is said not to be there`, limit, async (context) => {
        const { watched, url } = await openFated(context, () => "answered");
        await watched.page.goto(`${url}#/${path}`);
        await sees(watched, "main", said);
        if (path !== "reasons/nosuch") await watched.page.click(`main a[href="#/"]`);
        assert.equal(await watched.text("#app > .banner"), "", "the connection is not lost");
      });

    test("on a phone a cluster in trouble has a page of three screens, and its parts open", limit, async (context) => {
      const { watched, url, fault } = await openFated(context, () => "answered");
      await watched.page.setViewport({ width: 390, height: 844 });
      await watched.page.goto(`${url}#/clusters/demo`);
      await sees(watched, ".node.leader", /pg1/);
      await fault("pg1/kill");
      await sees(watched, ".banner", /No primary|pg1/);
      await sees(watched, ".essence", /\w/);
      const high = Number(await watched.page.evaluate("document.documentElement.scrollHeight"));
      assert.ok(high < 3 * 844, `${high} px`);
      await watched.page.evaluate(`for (const summary of document.querySelectorAll("main summary")) summary.click()`);
      await sees(watched, "main", /Who was fit when[^]*fit as primary[^]*Events[^]*node down/);
      const wide = Number(await watched.page.evaluate("document.documentElement.scrollWidth"));
      assert.ok(wide <= 390, `${wide} px`);
    });

    test("a way without evidence has no colour of the pool around it", limit, async (context) => {
      const { watched, url } = await openFated(context, () => "answered");
      await watched.page.goto(`${url}#/clusters/demo`);
      await sees(watched, "main h1", /demo/);
      const colours = await watched.page.evaluate(`["ok", "plain", "stale"].map((tone) => {
        const pool = document.createElement("section");
        pool.className = "pool-road ok";
        pool.innerHTML = '<div class="edge ' + tone + '"><span class="wire"></span></div>';
        document.querySelector("main").append(pool);
        return getComputedStyle(pool.querySelector(".wire")).borderBottomColor;
      })`);
      const [seen, open, unknown] = colours as readonly string[];
      assert.notEqual(open, seen);
      assert.equal(open, unknown);
    });

    test(
      "what was known before is grey when it cannot be read again, and is read again by itself",
      limit,
      async (context) => {
        let fate: Fate = "answered";
        const { watched, url } = await openFated(context, (path) => (path.endsWith("/stream") ? "answered" : fate));
        await watched.page.goto(`${url}#/edges`);
        await sees(watched, "main", /This process[^]*not known: lb1|This process[^]*does not answer/i);
        fate = "refused";
        await sees(watched, "main", /Not known: edges. GET \/edges answered 503[^]*This process/);
        assert.ok(await watched.page.$("main .dim .facts"));
        fate = "answered";
        await until("it is known again", async () => (await watched.page.$("main .dim")) === null);
      },
    );
  });
}

interface Fated {
  readonly watched: WatchedPage;
  readonly url: string;
  readonly app: App;
  /** The last parts of the paths that the page has asked for. */
  readonly asked: ReadonlySet<string>;
  readonly fault: (path: string) => Promise<void>;
}

/** Opens the page of a cluster with a balancer, of whose requests something becomes. */
async function openFated(context: TestContext, fateOf: (url: string) => Fate): Promise<Fated> {
  const simulator = await startSimulator({
    nodes: 3,
    port: 0,
    scope: "demo",
    ttlMs: 3_000,
    loopWaitMs: 500,
    retryTimeoutMs: 500,
  });
  context.after(() => simulator.stop());
  const clusters = [clusterOf({ name: "demo", scope: "demo", discover: simulator.nodes.map(({ url }) => url) })];
  const pools = [{ name: "reads", cluster: "demo", check: plainCheck("replica"), checkText: "/replica", weight: null }];
  const backends = [haproxyBackendOf({ name: "w", cluster: "demo" })];
  const haproxy = { socket: { path: "/no/such/socket" }, zone: null, cutSessions: false, backends };
  const audit = { intervalMs: 1_000, envoys: [] };
  const config = configOf({ clusters, listen: [admin, whole], pools, balancers: [{ name: "lb1", haproxy }], audit });
  const app = appOf(context, withQuickProbes(config));
  await app.start();
  const url = `http://127.0.0.1:${portFor(app, admin)}/`;
  const watched = await openPage(browser, "about:blank", context);
  const asked = new Set<string>();
  await watched.page.setRequestInterception(true);
  watched.page.on("request", (request) => {
    const path = request.url().replace(/[?#].*/, "");
    if (isOwn(path)) return void request.continue().catch(() => {});
    asked.add(path.split("/").at(-1) ?? "");
    return void decide(request, fateOf(path)).catch(() => {});
  });
  const fault = async (path: string): Promise<void> => {
    await fetch(`${simulator.nodes[2]?.url}/sim/${path}`, { method: "POST" });
  };
  return { watched, url, app, asked, fault };
}

async function decide(request: HTTPRequest, fate: Fate): Promise<void> {
  switch (fate) {
    case "pending":
      return;
    case "refused":
      return request.respond({ status: 503, contentType: "application/json", body: '{"message":"it is full"}' });
    case "cut":
      return request.abort("connectionreset");
    case "replaced":
      return request.respond({ status: 200, contentType: "text/html", body: "<p>Sign in" });
    case "answered":
      return request.continue();
  }
}

/** How many parts of a panel are not known yet. */
function pendingIn({ page }: WatchedPage, panel: string): Promise<number> {
  return page.$eval(panel, (element) => element.querySelectorAll("[data-reading=loading]").length);
}

/** What readers of the screen are told of pictures. */
function labels({ page }: WatchedPage): Promise<string> {
  return page.$$eval("main [role=img]", (elements) =>
    elements.map((element) => element.getAttribute("aria-label")).join("\n"),
  );
}
