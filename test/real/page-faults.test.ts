import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Browser } from "puppeteer-core";
import { App } from "../../src/app/app.ts";
import { hashOf } from "../../src/cli/commands/hash-password.ts";
import { unrestrictedAccess } from "../../src/core/config/model/listener-access-config.ts";
import { appOf, fixedCluster, portFor, withQuickProbes } from "../app/app-fixture.ts";
import { configOf, listenerOf } from "../fake/config.ts";
import { openFakeCluster } from "../fake/fake-node.ts";
import { silentLogger } from "../fake/silent-logger.ts";
import { until } from "../fake/until.ts";
import { hasBrowser, openPage, startBrowser } from "./page/browser.ts";
import { sees } from "./page/lab.ts";

const admin = listenerOf({ dialect: "admin" });
const limit = { timeout: 120_000 };
/** Whether every strip ends before the present. */
const stripsEnd = `[...document.querySelectorAll(".strip-bar .seg:last-child")]
  .every(({ style }) => parseFloat(style.left) + parseFloat(style.width) < 99.9)`;
let browser: Browser;

if (!hasBrowser()) {
  test("the live page in trouble", (context) => context.diagnostic("not run: there is no Chromium"));
} else {
  describe("the live page in trouble", () => {
    before(async () => {
      browser = await startBrowser();
    });
    after(() => browser.close());

    test("a blind edge says that its own network is the likely fault", limit, async (context) => {
      const nodes = await openFakeCluster(context, ["pg1", "pg2"]);
      const other = await openFakeCluster(context, ["pg1"]);
      const clusters = [fixedCluster(nodes), fixedCluster(other, { name: "other" })];
      const quick = withQuickProbes(configOf({ clusters, listen: [admin] }));
      const app = appOf(context, { ...quick, probe: { ...quick.probe, maxAgeMs: 1_000 } });
      await app.start();
      const url = `http://127.0.0.1:${portFor(app, admin)}/`;
      const watched = await openPage(browser, url, context);
      await sees(watched, ".fleet", /demo[^]*pg1/);
      await Promise.all(nodes.map((node) => node.close()));
      await sees(watched, ".fleet-row", /demo[^]*blind/);
      assert.match(await watched.text(".connection"), /Live/, "the page itself is connected");
      await watched.page.click("a[title=demo]");
      await sees(
        watched,
        ".banner.bad",
        /Blind for [^]*none of 2 nodes answers rolecall[^]*network between rolecall and the nodes/,
      );
      assert.doesNotMatch(await watched.text("main"), /No primary/, "blindness is no verdict on the nodes");
      await sees(watched, ".node .age", /^[1-9]/);
      await Promise.all(nodes.map((node) => node.open()));
      await sees(watched, ".node.leader", /pg1[^]*primary/);
      // The two fake clusters are of one database system, which is a warning of its own.
      assert.equal(await watched.page.$(".banner.bad"), null);
      assert.deepEqual(watched.problems, []);
    });

    test(
      "a restart of rolecall in the same place: a view of a cluster goes on, with new events",
      limit,
      async (context) => {
        const nodes = await openFakeCluster(context, ["pg1", "pg2"]);
        const config = withQuickProbes(configOf({ clusters: [fixedCluster(nodes)], listen: [admin] }));
        const first = new App(config, silentLogger);
        await first.start();
        const port = portFor(first, admin);
        const watched = await openPage(browser, `http://127.0.0.1:${port}/#/clusters/demo`, context);
        await sees(watched, ".node.leader", /pg1/);
        await first.stop({ drains: false });
        await sees(watched, "#app > .banner", /Connection to rolecall lost/);
        await until("a strip that ends when the connection was lost", async () => watched.page.evaluate(stripsEnd));
        await nodes[1]?.close();
        await appOf(context, { ...config, listen: [listenerOf({ dialect: "admin", port })] }).start();
        await sees(watched, ".connection", /Live/);
        await sees(watched, ".topology", /pg2[^]*down/);
        assert.equal(await watched.text("#app > .banner"), "");
        await nodes[1]?.open();
        await sees(watched, ".events", /pg2/);
      },
    );

    test(
      "without a password there is no page; with one, a listener without changes offers none",
      limit,
      async (context) => {
        const nodes = await openFakeCluster(context, ["pg1", "pg2"]);
        const basic = [{ user: "ann", scrypt: hashOf("hunter2") }];
        const auth = { for: "all", basic, bearer: [], certificate: false } as const;
        const access = { ...unrestrictedAccess, auth, readOnly: true };
        const listener = listenerOf({ dialect: "admin", access });
        const app = appOf(context, withQuickProbes(configOf({ clusters: [fixedCluster(nodes)], listen: [listener] })));
        await app.start();
        const url = `http://127.0.0.1:${portFor(app, listener)}/`;
        const files = [
          "",
          "page/app.js",
          "events/stream",
          "clusters/demo/lag",
          "clusters/demo/limits",
          "edges",
          "session",
        ];
        for (const path of files)
          assert.equal((await fetch(`${url}${path}`, { headers: { accept: "text/html" } })).status, 401, path);
        const refused = await browser.newPage();
        context.after(() => refused.close());
        await refused.authenticate({ username: "ann", password: "wrong" });
        await refused.goto(url).catch(() => null);
        assert.equal(await refused.$("#app"), null);
        const watched = await openPage(browser, `${url}#/clusters/demo`, context, {
          username: "ann",
          password: "hunter2",
        });
        await sees(watched, ".node.leader", /pg1/);
        assert.equal(await watched.page.$('.toolbar button, button[aria-label^="Drain"]'), null);
        assert.deepEqual(watched.problems, []);
      },
    );

    test("a document of the largest size is shown as text, in part, and the page goes on", limit, async (context) => {
      const nodes = await openFakeCluster(context, ["pg1", "<svg onload=alert(1)>"]);
      const [, hostile] = nodes;
      const junk = '<img src="http://127.0.0.1:1/x" onerror="alert(1)">'.repeat(4_500); // just below what is read of a document
      if (hostile !== undefined) hostile.fields = { junk, state: "<script>alert(1)</script>" };
      const app = appOf(context, withQuickProbes(configOf({ clusters: [fixedCluster(nodes)], listen: [admin] })));
      await app.start();
      const url = `http://127.0.0.1:${portFor(app, admin)}/`;
      const node = encodeURIComponent("<svg onload=alert(1)>");
      const watched = await openPage(browser, `${url}#/clusters/demo/nodes/${node}`, context);
      await sees(watched, "main h1", /<svg onload=alert\(1\)>/);
      await watched.page.evaluate("document.querySelector('#raw + button').click()");
      await sees(watched, "pre", /<img src=/);
      assert.match(await watched.text("#raw ~ div .note"), /2[4-6]\d{4} characters, of which 200000 are shown/);
      assert.equal(await watched.page.$eval("pre", (element) => element.childElementCount), 0);
      assert.equal(await watched.page.$("main img, main script, main [onload]"), null);
      await watched.page.goto(`${url}#/events`);
      await sees(watched, "main h1", /Events/);
      assert.deepEqual(watched.problems, []);
    });
  });
}
