import assert from "node:assert/strict";
import { after, before, describe, test, type TestContext } from "node:test";
import type { Browser } from "puppeteer-core";
import { App } from "../../src/app/app.ts";
import { startSimulator } from "../../src/simulator/simulator.ts";
import { appOf, fixedCluster, portFor, withQuickProbes } from "../app/app-fixture.ts";
import { clusterOf, configOf, listenerOf } from "../fake/config.ts";
import { openFakeCluster } from "../fake/fake-node.ts";
import { silentLogger } from "../fake/silent-logger.ts";
import { until } from "../fake/until.ts";
import { hasBrowser, openPage, startBrowser, type WatchedPage } from "./page/browser.ts";

const admin = listenerOf({ dialect: "admin" });
const limit = { timeout: 120_000 };
let browser: Browser;

/** The page of an App over simulated clusters. */
async function openLab(
  context: TestContext,
  scopes: readonly string[],
): Promise<WatchedPage & { readonly app: App; readonly url: string; readonly fault: (path: string) => Promise<void> }> {
  const simulators = await Promise.all(
    scopes.map((scope) =>
      startSimulator({ nodes: 3, port: 0, scope, ttlMs: 3_000, loopWaitMs: 500, retryTimeoutMs: 500 }),
    ),
  );
  for (const simulator of simulators) context.after(() => simulator.stop());
  const clusters = simulators.map(({ nodes }, at) =>
    clusterOf({ name: scopes[at] ?? "", scope: scopes[at] ?? "", discover: nodes.map(({ url }) => url) }),
  );
  const app = appOf(context, withQuickProbes(configOf({ clusters, listen: [admin] })));
  await app.start();
  const url = `http://127.0.0.1:${portFor(app, admin)}/`;
  const fault = async (path: string): Promise<void> => {
    await fetch(`${simulators[0]?.nodes[2]?.url}/sim/${path}`, { method: "POST" });
  };
  return { app, url, fault, ...(await openPage(browser, url, context)) };
}

function sees({ text }: WatchedPage, selector: string, wanted: RegExp): Promise<string> {
  let last = "";
  return until({ what: `${selector}: ${String(wanted)}`, evidence: () => last }, async () => {
    last = await text(selector);
    return wanted.test(last) && last;
  });
}

if (!hasBrowser()) {
  test("the live page in a browser", (context) => context.diagnostic("not run: there is no Chromium"));
} else {
  describe("the live page in a browser", () => {
    before(async () => {
      browser = await startBrowser();
    });
    after(() => browser.close());

    test("shows the fleet, and a failover of a cluster as it happens", limit, async (context) => {
      const lab = await openLab(context, ["demo", "other"]);
      await sees(lab, ".fleet", /demo[^]*other/);
      await sees(lab, ".connection", /Live/);
      await lab.page.click("a[title=demo]");
      await sees(lab, ".node.leader", /pg1[^]*primary/);
      await sees(lab, ".flow ul", /pg2[^]*pg3/);
      await lab.fault("pg1/kill");
      await sees(lab, ".banner", /No primary/);
      await sees(lab, ".node.leader", /pg[23]\s*[^]*primary/);
      await sees(lab, ".apart", /pg1[^]*was primary[^]*down/);
      await sees(lab, ".events", /primary found[^]*primary lost/i);
      await lab.fault("pg1/heal");
      await sees(lab, ".flow ul", /pg1/);
      assert.deepEqual(lab.problems, []);
    });

    test("explains a detached replica, and links its reason", limit, async (context) => {
      const lab = await openLab(context, ["demo"]);
      await sees(lab, ".fleet", /2 of 2/);
      await lab.fault("pg2/detach");
      await sees(lab, ".fleet-row", /degraded[^]*1 of 2[^]*pg2 detached/);
      await lab.page.goto(`${lab.url}#/clusters/demo/nodes/pg2`);
      await sees(lab, ".rules .decisive", /fails, decides/);
      await lab.page.click(".lead .reason");
      await sees(lab, ".reason-text.chosen", /detached[^]*What to do/i);
      assert.deepEqual(lab.problems, []);
    });

    test("a lost connection is shown, ages go on, and the page comes back by itself", limit, async (context) => {
      const nodes = await openFakeCluster(context, ["pg1"]);
      const config = withQuickProbes(configOf({ clusters: [fixedCluster(nodes)], listen: [admin] }));
      const first = new App(config, silentLogger);
      await first.start();
      const port = portFor(first, admin);
      const watched = await openPage(browser, `http://127.0.0.1:${port}/`, context);
      await sees(watched, ".connection", /Live/);
      await first.stop({ drains: false });
      await sees(watched, "#app > .banner", /Connection to rolecall lost/);
      await sees(watched, ".fleet-row .age", /^[3-9]\.\d s$/);
      await appOf(context, { ...config, listen: [listenerOf({ dialect: "admin", port })] }).start();
      await sees(watched, ".connection", /Live/);
      await sees(watched, ".fleet-row .age", /^0\.\d s$/);
      assert.equal(await watched.text("#app > .banner"), "");
    });

    test("shows what hostile nodes say as text", limit, async (context) => {
      const name = "<img src=x onerror=alert(1)>";
      const nodes = await openFakeCluster(context, ["pg1", "pg2"]);
      const [, hostile] = nodes;
      if (hostile !== undefined)
        hostile.fields = {
          tags: { [name]: `"><script>alert(1)</script>${"x".repeat(1_000)}` },
          junk: "<b>".repeat(300_000),
        };
      const clusters = [fixedCluster(nodes, { name })];
      const app = appOf(context, withQuickProbes(configOf({ clusters, listen: [admin] })));
      await app.start();
      const url = `http://127.0.0.1:${portFor(app, admin)}/`;
      const watched = await openPage(browser, url, context);
      await sees(watched, ".fleet", /<img src=x/);
      await watched.page.goto(`${url}#/clusters/${encodeURIComponent(name)}/nodes/pg2`);
      await sees(watched, ".facts", /<script>alert\(1\)/);
      await watched.page.evaluate("document.querySelector('#raw + button').click()");
      await sees(watched, "pre", /<b><b><b>/);
      assert.equal(await watched.page.$("main img, main script, main b b"), null);
      assert.deepEqual(watched.problems, []);
    });

    test(
      "a thousand clusters: only the rows in sight are in the document, and search finds one",
      limit,
      async (context) => {
        const nodes = await openFakeCluster(context, ["pg1"]);
        const clusters = Array.from({ length: 1_000 }, (_, at) => fixedCluster(nodes, { name: `db${at}` }));
        const config = configOf({ clusters, listen: [admin] });
        const app = appOf(context, { ...config, probe: { ...config.probe, intervalMs: 5_000 } });
        await app.start();
        const watched = await openPage(browser, `http://127.0.0.1:${portFor(app, admin)}/`, context);
        await sees(watched, ".chip", /all 1000/);
        const drawn = (await watched.page.$$(".fleet-row")).length;
        assert.ok(drawn < 60, `${drawn} rows`);
        await watched.page.keyboard.press("/");
        await watched.page.keyboard.type("db777");
        await until("one row", async () => (await watched.page.$$(".fleet-row")).length === 1);
        await sees(watched, ".fleet-row", /db777/);
        assert.deepEqual(watched.problems, []);
      },
    );
  });
}
