import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, before, describe, test } from "node:test";
import type { Browser, Page } from "puppeteer-core";
import { until } from "../fake/until.ts";
import { hasBrowser, startBrowser } from "./page/browser.ts";
import { openLab, sees } from "./page/lab.ts";

const limit = { timeout: 120_000 };
const recorded = resolve("test", "spec", "incidents", "patroni-3717-lost-conninfo.yaml");
const views = ["", "clusters/demo", "clusters/demo/nodes/pg2", "events", "edges", "reasons"];
let browser: Browser;

/** What is focused: its role or element, its text, and whether the focus can be seen. */
interface Focus {
  readonly name: string;
  readonly isSeen: boolean;
}

const focus = `(() => {
  const element = document.activeElement;
  // Behind the last element Tab leaves the page.
  if (element === document.body) return { name: "page", isSeen: true };
  const outlines = [getComputedStyle(element), getComputedStyle(element, "::after")];
  const isSeen = outlines.some(({ outlineStyle, outlineWidth }) => outlineStyle !== "none" && parseFloat(outlineWidth) >= 2);
  const name = element.getAttribute("aria-label") ?? (element.innerText || element.tagName).trim();
  return { name, isSeen };
})()`;

/** Presses Tab until an element with this text has the focus. Every element on the way must show its focus. */
async function tabTo(page: Page, wanted: RegExp): Promise<void> {
  const passed: string[] = [];
  for (let count = 0; count < 60; count += 1) {
    await page.keyboard.press("Tab");
    const { name, isSeen } = (await page.evaluate(focus)) as Focus;
    assert.ok(isSeen, `the focus of "${name}" cannot be seen`);
    if (wanted.test(name)) return;
    passed.push(name);
  }
  assert.fail(`Tab must lead to ${String(wanted)}, got ${passed.join(", ")}`);
}

/** The marks whose meaning lies in their colour alone: without a shape of their tone, or without a word beside them. */
const bareMarks = `[...document.querySelectorAll(".mark")].filter((mark) => {
  const [, tone] = mark.classList;
  const shape = mark.querySelector("path").getAttribute("d");
  globalThis.shapes ??= {};
  const isOwnShape = (globalThis.shapes[shape] ??= tone) === tone;
  return !isOwnShape || mark.parentElement.textContent.trim() === "";
}).map((mark) => mark.parentElement.outerHTML.slice(0, 120))`;

/** Elements that show a state without a text or a title. */
const silentStates = `[...document.querySelectorAll(".fleet-row, .node, .badge, .verdict, .events li, .strip-bar, .strip-bar .seg, .time-mark, .connection")]
  .filter((element) => (element.textContent.trim() || element.title || element.getAttribute("aria-label") || "") === "")
  .map((element) => element.outerHTML.slice(0, 120))`;

/** Presses Escape in the instant in which the past is shown. */
const escapeAtOnce = `new MutationObserver((_, observer) => {
  if (document.querySelector(".past-bar") === null) return;
  observer.disconnect();
  globalThis.wasPast = true;
  document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true }));
}).observe(document.body, { childList: true, subtree: true }), true`;

/** How many elements would move when their state changes. */
const movingCount = `[...document.querySelectorAll("*")].filter((element) => {
  const { transitionDuration, animationName, scrollBehavior } = getComputedStyle(element);
  return parseFloat(transitionDuration) > 0 || animationName !== "none" || scrollBehavior === "smooth";
}).length`;

if (!hasBrowser()) {
  test("use of the live page", (context) => context.diagnostic("not run: there is no Chromium"));
} else {
  describe("use of the live page", () => {
    before(async () => {
      browser = await startBrowser();
    });
    after(() => browser.close());

    test(
      "the keyboard alone leads from the fleet to an explanation, into the past and back",
      limit,
      async (context) => {
        const lab = await openLab(browser, context, ["demo"]);
        const { page } = lab;
        await sees(lab, ".fleet", /2 of 2/);
        await page.keyboard.press("Tab");
        assert.match(((await page.evaluate(focus)) as Focus).name, /Skip to content/);
        await page.keyboard.press("Enter");
        await page.keyboard.press("/");
        await page.keyboard.type("demo");
        await tabTo(page, /^demo$/);
        await page.keyboard.press("Enter");
        await sees(lab, ".node.leader", /pg1/);
        await lab.fault("pg2/kill");
        await sees(lab, ".apart", /pg2[^]*down/);
        await tabTo(page, /^pg2$/);
        await page.keyboard.press("Enter");
        await sees(lab, ".rules .decisive", /fails, decides/);
        await tabTo(page, /^demo$/);
        await page.keyboard.press("Enter");
        await sees(lab, ".node.leader", /pg1/);
        await page.evaluate("document.activeElement.blur(), scrollTo(0, 0)");
        await tabTo(page, /^Look back$/);
        await page.keyboard.press("Enter");
        await sees(lab, ".past-bar", /Not live/);
        await page.keyboard.press("Home");
        const beginning = await lab.text(".past-time");
        await page.keyboard.press("ArrowRight");
        await until("another instant", async () => (await lab.text(".past-time")) !== beginning);
        await page.keyboard.press("Escape");
        await sees(lab, ".connection", /Live/);
        assert.deepEqual(lab.problems, []);
      },
    );

    test("a key that is pressed as soon as the past is shown counts", limit, async (context) => {
      const lab = await openLab(browser, context, ["demo"]);
      await lab.page.goto(`${lab.url}#/clusters/demo`);
      await sees(lab, ".past-entry", /Look back/);
      await lab.page.evaluate(escapeAtOnce);
      await lab.page.click(".past-entry button");
      await until("Escape at once", () => lab.page.evaluate("globalThis.wasPast"));
      await sees(lab, ".connection", /Live/);
      await sees(lab, ".past-entry", /Look back/);
      assert.deepEqual(lab.problems, []);
    });

    test("no state is shown by colour alone, and nothing moves for who wants no motion", limit, async (context) => {
      const lab = await openLab(browser, context, ["demo", "other"]);
      const { page } = lab;
      await page.emulateMediaFeatures([{ name: "prefers-reduced-motion", value: "reduce" }]);
      await lab.fault("pg2/kill");
      await lab.fault("pg3/lag?bytes=94371840");
      await sees(lab, ".fleet-row", /down/);
      for (const view of views) {
        await page.goto(`${lab.url}#/${view}`);
        await sees(lab, "main", /\w/);
        await page.evaluate("[...document.querySelectorAll('.chip, .node, a')].at(-1)?.focus()");
        await page.hover("header a");
        assert.deepEqual(await page.evaluate(bareMarks), [], view);
        assert.deepEqual(await page.evaluate(silentStates), [], view);
        assert.equal(await page.evaluate("document.getAnimations().length"), 0, view);
        assert.equal(await page.evaluate(movingCount), 0, view);
      }
      await page.emulateMediaFeatures([{ name: "prefers-reduced-motion", value: "no-preference" }]);
      assert.ok(Number(await page.evaluate(movingCount)) > 0, "who does not mind sees transitions");
    });

    test("an event leads to its instant, whose address can be opened again", limit, async (context) => {
      const lab = await openLab(browser, context, ["demo"]);
      const { page } = lab;
      await sees(lab, ".fleet", /2 of 2/);
      await lab.fault("pg1/kill");
      await page.goto(`${lab.url}#/events`);
      await sees(lab, ".events", /primary found[^]*primary lost/); // the newest is first
      await page.evaluate(
        "[...document.querySelectorAll('.events li')].find(({ innerText }) => innerText.includes('primary lost')).querySelector('.instant').click()",
      );
      await sees(lab, ".past-bar", /Not live[^]*demo as it was/);
      await sees(lab, ".banner", /No primary/);
      const address = page.url();
      assert.match(address, /#\/clusters\/demo\/at\/20/);
      await page.keyboard.press("End");
      await sees(lab, ".node.leader", /pg[23][^]*primary/);
      await page.evaluate(
        "[...document.querySelectorAll('.events li')].find(({ innerText }) => innerText.includes('primary lost')).querySelector('.instant').click()",
      );
      await sees(lab, ".banner", /No primary/);
      await page.keyboard.press("Escape");
      await sees(lab, ".connection", /Live/);
      assert.match(page.url(), /#\/clusters\/demo$/);
      await page.goto("about:blank");
      await page.goto(address);
      await sees(lab, ".past-bar", /Not live[^]*demo as it was/);
      await sees(lab, ".banner", /No primary/);
      assert.deepEqual(
        // The server renders one incident at a time: the page asks a busy one again.
        lab.problems.filter((problem) => !/about:|429/.test(problem)),
        [],
      );
    });

    test(
      "the past shows the limits that the recording knows, and says which it does not know",
      limit,
      async (context) => {
        const lab = await openLab(browser, context, ["demo"]);
        const { page } = lab;
        const health = lab.app.listeners.find(({ config }) => config.dialect === "node")?.port ?? 0;
        await fetch(`http://127.0.0.1:${health}/clusters/demo/replica?lag=16MB`);
        await page.goto(`${lab.url}#/clusters/demo`);
        await sees(lab, ".node .limits[aria-label=Limits]", /within 1\.0 MB a failover/);
        await page.evaluate("[...document.querySelectorAll('.past-entry button')][0].click()");
        await sees(lab, ".past-bar", /Not live/);
        await page.keyboard.press("End");
        await sees(lab, ".node .limits[aria-label=Limits]", /within 16 MB \/replica[^]*within 1\.0 MB a failover/);
        await sees(lab, "#lag ~ .scroll", /16 MB[^]*checks of balancers[^]*none/);
        await sees(lab, "main", /limits of checks, listeners and pushes are those of [^]* that of the shown instant/);
        await page.keyboard.press("Escape");
        await sees(lab, ".connection", /Live/);
        const [chooser] = await Promise.all([page.waitForFileChooser(), page.click(".bar-button")]);
        await chooser.accept([recorded]);
        await sees(lab, ".past-bar", /Not live[^]*lost its primary_conninfo/);
        await sees(
          lab,
          "main",
          /recording does not state the limits of checks[^]*failover is not known at the shown instant/,
        );
        assert.equal(await page.$(".node .limits"), null);
        await page.goto(`${page.url()}/nodes/pg2`);
        await sees(lab, "#limits ~ .note", /recording does not state the limits of checks/);
      },
    );

    test("on a phone the player shows its main controls, and more on request", limit, async (context) => {
      const lab = await openLab(browser, context, ["demo"]);
      const { page } = lab;
      await page.setViewport({ width: 390, height: 800 });
      await page.goto(`${lab.url}#/clusters/demo`);
      await sees(lab, ".node.leader", /pg1/);
      await page.click(".past-entry button");
      await sees(lab, ".past-bar", /Not live/);
      const shown = (): Promise<string> => lab.text(".past-controls");
      assert.match(await shown(), /Play[^]*More[^]*Live/);
      assert.doesNotMatch(await shown(), /Event/);
      await page.click(".unfold");
      await until("all controls", async () => /Less[^]*Speed[^]*Event[^]*10 min earlier/.test(await shown()));
      await page.setViewport({ width: 1_280, height: 800 });
      assert.equal(await page.evaluate("getComputedStyle(document.querySelector('.unfold')).display"), "none");
    });

    test(
      "a file that is dropped on the page opens, and other things that are dropped do not",
      limit,
      async (context) => {
        const lab = await openLab(browser, context, ["demo"]);
        await sees(lab, ".connection", /Live/);
        const session = await lab.page.createCDPSession();
        const drag = async (type: "dragEnter" | "dragOver" | "drop", files: string[], y = 300): Promise<void> => {
          const items = files.length > 0 ? [] : [{ mimeType: "text/plain", data: "pg1" }];
          await session.send("Input.dispatchDragEvent", {
            type,
            x: 400,
            y,
            data: { items, files, dragOperationsMask: 1 },
          });
        };
        for (const type of ["dragEnter", "dragOver"] as const) await drag(type, [recorded]);
        await sees(lab, ".drop-here", /Drop an incident file to open it/);
        await drag("drop", [recorded]);
        await sees(lab, ".past-bar", /Not live[^]*lost its primary_conninfo/);
        assert.equal(await lab.page.$(".drop-here"), null);
        await lab.page.keyboard.press("End");
        await sees(lab, ".apart", /pg2[^]*detached/);
        await lab.page.keyboard.press("Escape");
        await sees(lab, ".connection", /Live/);
        for (const type of ["dragEnter", "dragOver", "drop"] as const) await drag(type, []);
        assert.equal(await lab.page.$(".drop-here"), null);
        const folder = await mkdtemp(join(tmpdir(), "rolecall-drop-"));
        context.after(() => rm(folder, { recursive: true }));
        await drag("dragEnter", [folder]);
        // Before the page has accepted the drag, the browser delivers no drop.
        await sees(lab, ".drop-here", /Drop an incident file to open it/);
        // When the pointer reaches another element, the browser sends that one a dragenter before the next dragover.
        await drag("dragOver", [folder], 10);
        await drag("drop", [folder], 10);
        await sees(lab, ".past-problem", /Cannot read/);
        assert.deepEqual(
          lab.problems.filter((problem) => !problem.startsWith("console:")),
          [],
        );
      },
    );
  });
}
