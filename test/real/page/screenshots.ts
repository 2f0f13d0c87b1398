import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { openPage, startBrowser } from "./browser.ts";

/**
 * Takes pictures of a running rolecall in every width, light and dark:
 * `npm run screenshots -- http://127.0.0.1:9108 FOLDER [VIEW…]`, where a view is what follows `#`, as `/clusters/demo`.
 */
const [address = "http://127.0.0.1:9108", folder = "screenshots", ...wanted] = process.argv.slice(2);
const views = wanted.length === 0 ? ["/", "/clusters/demo", "/events", "/reasons"] : wanted;
const sizes = [
  [375, 812],
  [1280, 800],
  [2560, 1440],
] as const;

await mkdir(folder, { recursive: true });
const browser = await startBrowser();
try {
  for (const view of views) {
    const { page, problems } = await openPage(browser, `${address}/#${view}`);
    await page.waitForSelector("main h1");
    await pause(3_000);
    for (const scheme of ["light", "dark"]) {
      await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
      for (const [width, height] of sizes) {
        await page.setViewport({ width, height });
        await pause(500);
        const name = `${view.replace(/\W+/g, "-").replace(/^-|-$/g, "") || "fleet"}-${width}-${scheme}.png`;
        await page.screenshot({ path: join(folder, name), fullPage: view !== "/" });
        const overflow = await page.evaluate("document.documentElement.scrollWidth - innerWidth");
        if (Number(overflow) > 0) problems.push(`${name}: wider than the window by ${String(overflow)} px`);
      }
    }
    for (const problem of problems) console.error(`${view}: ${problem}`);
    await page.close();
  }
} finally {
  await browser.close();
}
