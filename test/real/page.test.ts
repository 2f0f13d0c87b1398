import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import type { Browser, Page } from "puppeteer-core";
import { App } from "../../src/app/app.ts";
import { plainCheck } from "../../src/core/health/check.ts";
import { hashOf } from "../../src/cli/commands/hash-password.ts";
import { appOf, fixedCluster, portFor, withQuickProbes } from "../app/app-fixture.ts";
import { configOf, listenerOf } from "../fake/config.ts";
import { openFakeCluster } from "../fake/fake-node.ts";
import { FakePgbouncer } from "../fake/fake-pgbouncer.ts";
import { poolerOf } from "../fake/pooler-setup.ts";
import { temporaryFolder } from "../fake/temporary-folder.ts";
import { until } from "../fake/until.ts";
import { silentLogger } from "../fake/silent-logger.ts";
import { hasBrowser, openPage, startBrowser, type WatchedPage } from "./page/browser.ts";
import { EtcdMembers } from "./lab/etcd-members.ts";
import { missingProgram } from "./lab/versions.ts";
import { flawsOf } from "./page/flaws.ts";
import { openLab, sees } from "./page/lab.ts";
import { openHostileSite, openProxy } from "./page/other-sites.ts";

const auth = {
  for: "all",
  basic: [{ user: "ann", scrypt: hashOf("hunter2") }],
  bearer: [],
  certificate: false,
} as const;
const user = { username: "ann", password: "hunter2" };
const admin = listenerOf({ dialect: "admin" });
const limit = { timeout: 120_000 };
let browser: Browser;

/** Clicks the button that confirms, once it can be: what was asked for meanwhile is known then, and moves it no more. */
async function confirm(page: Page): Promise<void> {
  await page.waitForSelector("dialog .danger:enabled");
  await page.click("dialog .danger");
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
      const lab = await openLab(browser, context, ["demo", "other"]);
      await sees(lab, ".fleet", /demo[^]*other/);
      await sees(lab, ".connection", /Live/);
      await lab.page.click("a[title=demo]");
      await sees(lab, ".node.leader", /pg1[^]*primary/);
      await sees(lab, ".flow ul", /pg2[^]*pg3/);
      await lab.fault("pg1/kill");
      await sees(lab, ".banner", /No primary for \d[^]*: pg1 [^]*clients[^]*checks refuse writes[^]*next[^]*do/);
      assert.equal(await lab.page.title(), "(1) demo · rolecall");
      await sees(lab, ".node.leader", /pg[23]\s*[^]*primary/);
      await sees(lab, ".apart", /pg1[^]*was primary, last known[^]*unknown 1\.0 MB a failover[^]*down/);
      assert.equal(await lab.page.$('[aria-label="Node pg1"] .ok'), null, "nothing of a dead node is green");
      await sees(lab, ".recent", /Last 5 minutes[^]*primary lost/);
      await sees(lab, ".events", /primary found[^]*primary lost/i);
      await lab.fault("pg1/heal");
      await sees(lab, ".flow ul", /pg1/);
      assert.deepEqual(lab.problems, []);
    });

    test("explains a detached replica, and links its reason", limit, async (context) => {
      const lab = await openLab(browser, context, ["demo"]);
      await sees(lab, ".fleet", /2 of 2/);
      await lab.fault("pg2/detach");
      await sees(lab, ".fleet-row", /degraded[^]*1 of 2[^]*pg2 detached/);
      await lab.page.goto(`${lab.url}#/clusters/demo/nodes/pg2`);
      await sees(lab, ".rules .decisive", /fails, decides/);
      await lab.page.click(".lead .reason");
      await sees(lab, ".reason-text.chosen", /detached[^]*\bDo\b[^]*Repair the replication connection/);
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
          junk: "<b>".repeat(80_000), // just below what is read of a document
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

    test("drains a node and switches over after the cluster's name is typed", limit, async (context) => {
      const lab = await openLab(browser, context, ["demo"], { access: { auth, management: true }, user });
      await lab.page.goto(`${lab.url}#/clusters/demo`);
      await sees(lab, ".toolbar", /Signed in as ann[^]*Switch over/);
      const type = async (name: string, text: string): Promise<void> => {
        await lab.page.type(`dialog input[name=${name}]`, text);
      };
      const isOff = (): Promise<boolean> => lab.page.$eval("dialog .danger", (button) => button.matches(":disabled"));
      // By keyboard: the chart that is drawn later moves the button away from the pointer.
      await lab.page.focus('button[aria-label="Drain pg3"]');
      await lab.page.keyboard.press("Enter");
      await sees(lab, "dialog", /After this drain 1 replica is fit for reads/);
      await type("reason", "new disk");
      await type("confirm", "dem");
      assert.equal(await isOff(), true, "the name is not complete");
      await type("confirm", "o");
      await confirm(lab.page);
      await sees(lab, "dialog .done", /pg3 is drained until/);
      await lab.page.click("dialog .chip");
      await sees(lab, ".topology", /drained: new disk/);
      await lab.page.focus('button[aria-label="Drain pg2"]');
      await lab.page.keyboard.press("Enter");
      await sees(
        lab,
        "dialog [role=alert]",
        /pg2 is the only node of demo that is fit for \/replica[^]*lose their server/,
      );
      await lab.page.click("dialog .chip");
      await lab.page.click(".toolbar button");
      await sees(lab, "dialog .candidates", /pg2[^]*may take over/);
      await lab.page.click("dialog input[value=pg2]");
      await sees(lab, "dialog .preview", /Dry run passed[^]*pg1 hands over to pg2/);
      assert.equal(await isOff(), true, "the name is not typed");
      await type("confirm", "demo");
      await confirm(lab.page);
      await sees(lab, "dialog .done", /switched over to "pg2"/);
      await lab.page.click("dialog .chip");
      await sees(lab, ".node.leader", /pg2[^]*primary/);
      assert.deepEqual(lab.problems, []);
    });

    test(
      "the dialog of a drain says nothing of what is no longer so, and confirms nothing then",
      limit,
      async (context) => {
        const lab = await openLab(browser, context, ["demo"], { access: { auth }, user });
        await lab.page.goto(`${lab.url}#/clusters/demo`);
        await sees(lab, ".toolbar", /Signed in as ann/);
        await lab.page.focus('button[aria-label="Drain pg2"]');
        await lab.page.keyboard.press("Enter");
        await sees(lab, "dialog", /After this drain 1 replica is fit for reads/);
        await lab.page.type("dialog input[name=reason]", "new disk");
        await lab.page.type("dialog input[name=confirm]", "demo");
        const isOff = (): Promise<boolean> => lab.page.$eval("dialog .danger", (button) => button.matches(":disabled"));
        await until("it can be confirmed", async () => !(await isOff()));
        await lab.app.stop({ drains: false });
        await sees(lab, "dialog", /Not known: what this drain would leave/);
        assert.doesNotMatch(await lab.text("dialog"), /fit for/);
        assert.equal(await isOff(), true);
      },
    );

    test(
      "switches over seamlessly, step by step, and shows a run that somebody else has begun",
      limit,
      async (context) => {
        const pooler = await FakePgbouncer.start(context);
        // The PAUSE is held while another page is opened, which a busy machine may take long for.
        const configured = poolerOf("pgb1", `127.0.0.1:${pooler.console.port}`, { pauseLimitMs: 60_000 });
        const databases = configured.databases.map((database) => ({ ...database, cluster: "demo" }));
        const stateFile = join(temporaryFolder("page"), "state.json");
        const lab = await openLab(browser, context, ["demo"], {
          access: { auth, management: true },
          user,
          config: { stateFile, poolers: [{ ...configured, databases }] },
        });
        await lab.page.goto(`${lab.url}#/clusters/demo`);
        await sees(lab, ".toolbar", /Signed in as ann[^]*Switch over/);
        await lab.page.click(".toolbar button");
        await sees(lab, "dialog", /Seamless clients of the poolers wait[^]*Also without a peer/);
        // The second choice comes while the first one is checked.
        await lab.page.click("dialog input[value=pg3]");
        await lab.page.click("dialog input[value=pg2]");
        await sees(lab, "dialog .preview", /Refused: pgb1: must be reached by a peer/);
        await lab.page.click("dialog input[name=unguarded]");
        await sees(lab, "dialog .preview", /Dry run passed: pg1 may hand over to pg2/);
        await sees(lab, "dialog .preflight", /leader[^]*candidate[^]*pgb1/);
        assert.match(await lab.text("dialog"), /Clients will wait about \d\.\d s/);
        assert.deepEqual(await flawsOf(lab.page, "seamless switchover"), []);
        // A transaction holds the PAUSE: meanwhile another page shows the same run.
        pooler.begin();
        await lab.page.type("dialog input[name=confirm]", "demo");
        await confirm(lab.page);
        await until("PAUSE", () => pooler.isPaused);
        const other = await openPage(browser, `${lab.url}#/clusters/demo`, context, user);
        await sees(other, ".toolbar", /Switch over/);
        // By keyboard: what is drawn later moves the button away from the pointer.
        await other.page.focus(".toolbar button");
        await other.page.keyboard.press("Enter");
        await sees(other, "dialog", /Checked: nothing speaks against it/);
        for (const { page } of [lab, other]) {
          assert.deepEqual(
            await page.$$eval("dialog button", (all) => all.map(({ textContent }) => textContent?.trim())),
            ["Close"],
          );
          assert.equal(await page.$("dialog input"), null);
          assert.equal(await page.evaluate("document.activeElement.nodeName"), "DIALOG");
        }
        pooler.end();
        for (const page of [lab, other])
          await sees(page, "dialog .steps", /Clients wait[^]*pg2 takes writes[^]*Nothing is paused any more/);
        for (const page of [lab, other])
          await sees(page, "dialog .done[role=status]", /pg2 is the primary, and clients go on there/);
        await sees(lab, "dialog", /pgb1\/orders: clients waited \d+\.\d s/);
        await takePicture(lab, "switchover");
        assert.equal(pooler.isPaused, false);
        assert.deepEqual(await flawsOf(other.page, "steps of a seamless switchover"), []);
        assert.deepEqual([...lab.problems, ...other.problems], []);
      },
    );

    test("a page of another site cannot change anything with the user's password", limit, async (context) => {
      const lab = await openLab(browser, context, ["demo"], { access: { auth, management: true }, user });
      await sees(lab, ".connection", /Live/);
      const hostile = await openHostileSite(context, lab.url);
      const own = await lab.page.goto(hostile.url, { waitUntil: "domcontentloaded" });
      assert.equal(own?.status(), 200);
      await sees(lab, "#done", /finished/);
      await lab.page.goto(`${lab.url}#/clusters/demo`);
      await sees(lab, ".node.leader", /pg1/);
      assert.equal(await lab.page.$eval(".topology", (element) => /drained/.test(element.textContent ?? "")), false);
      assert.equal(hostile.reached(), true);
    });

    test("works below a path of a reverse proxy, with changes", limit, async (context) => {
      const lab = await openLab(browser, context, ["demo"], { access: { auth }, user });
      const proxied = await openPage(browser, await openProxy(context, lab.url, "/rolecall/"), context, user);
      await sees(proxied, ".connection", /Live/);
      await proxied.page.click("a[title=demo]");
      await sees(proxied, ".node.leader", /pg1/);
      // Actions appear once the page knows who uses it.
      await proxied.page.waitForSelector('button[aria-label="Drain pg2"]');
      const opened = proxied.page.evaluate(whenDialogAppears);
      await proxied.page.focus('button[aria-label="Drain pg2"]');
      await proxied.page.keyboard.press("Enter");
      assert.equal(await opened, "reason", "takes keys as soon as it is there");
      await proxied.page.type("dialog input[name=reason]", "proxy");
      await proxied.page.type("dialog input[name=confirm]", "demo");
      await confirm(proxied.page);
      await sees(proxied, "dialog .done", /pg2 is drained/);
      assert.deepEqual(proxied.problems, []);
    });

    const noEtcd = missingProgram();
    const skip = noEtcd === undefined ? false : `not run: ${noEtcd} is missing`;
    test("shows the members of a fleet, and that this one is apart from it", { ...limit, skip }, async (context) => {
      const etcd = await EtcdMembers.start({ count: 1 });
      context.after(() => etcd.stop());
      const nodes = await openFakeCluster(context, ["pg1"]);
      const where = { urls: etcd.urls, prefix: "/rolecall", tls: null, auth: null };
      const fleet = {
        name: "edges",
        advertise: "http://edge1:9108",
        zone: "a",
        observers: 1,
        weight: 1,
        leaseMs: 5_000,
      };
      const config = configOf({
        clusters: [fixedCluster(nodes)],
        listen: [admin],
        fleet: { ...fleet, etcd: where, tokenFile: null, tls: null },
      });
      const app = appOf(context, withQuickProbes(config));
      await app.start();
      const lab = await openPage(browser, `http://127.0.0.1:${portFor(app, admin)}/#/edges`, context);
      await sees(lab, "main", /Fleet edges, as edge1:9108 sees it[^]*owns[^]*edge1:9108\s+a\s[^]*1\s+1\s+1/);
      await etcd.kill(0);
      await sees(lab, "main", /edge1:9108 is apart from the fleet: \w/);
      assert.deepEqual(await flawsOf(lab.page, "edges of a fleet"), []);
    });

    test("has no violation of accessibility rules, and fits every width", limit, async (context) => {
      const pool = {
        name: "reads",
        cluster: "demo",
        check: plainCheck("replica"),
        checkText: "/replica",
        weight: null,
      };
      const access = { auth, management: true };
      const lab = await openLab(browser, context, ["demo", "other"], { access, user, config: { pools: [pool] } });
      await lab.fault("pg2/detach");
      await lab.fault("pg1/kill");
      await sees(lab, ".fleet-row", /no primary|degraded/);
      const found: string[] = [];
      for (const view of ["", "clusters/demo", "clusters/demo/nodes/pg2", "events", "edges", "reasons"]) {
        await lab.page.goto(`${lab.url}#/${view}`);
        // The heading of the view itself, not that of one that is still being loaded.
        await sees(lab, "main h1:not(.loading)", /\w/);
        if (view === "edges")
          await sees(lab, "main", /reads demo, \/replica: [^]*pg2[^]*hard no[^]*Nothing refers to it/);
        found.push(...(await flawsOf(lab.page, view)));
      }
      await lab.page.goto(`${lab.url}#/clusters/demo`);
      await sees(lab, ".toolbar", /Switch over/);
      await lab.page.click(".toolbar button");
      await sees(lab, "dialog", /Leader now|No node leads/);
      found.push(...(await flawsOf(lab.page, "switchover")));
      assert.deepEqual(found, []);
    });
  });
}

/** Runs in the page: the name of the input that has the focus when a dialog is added. */
const whenDialogAppears = `new Promise((resolve) => {
  new MutationObserver((_, observer) => {
    if (document.querySelector("dialog") === null) return;
    observer.disconnect();
    resolve(document.activeElement.name);
  }).observe(document.body, { childList: true, subtree: true });
})`;

/** Takes a picture for the documents in the folder PICTURES, if there is one: `npm run screenshots`. */
async function takePicture({ page }: WatchedPage, name: string): Promise<void> {
  const folder = process.env["PICTURES"];
  if (folder === undefined) return;
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: "light" }]);
  await page.setViewport({ width: 1_280, height: 800 });
  await page.screenshot({ path: join(folder, `${name}.png`) });
}
