import axe from "axe-core";
import type { Page } from "puppeteer-core";

const widths = [375, 1_280, 2_560];

/**
 * Finds violations of accessibility rules (axe), and widths at which a view is wider than the window, light and dark.
 * @param view its name in the result
 */
export async function flawsOf(page: Page, view: string): Promise<readonly string[]> {
  const flaws: string[] = [];
  // Evaluated by the protocol, which the content policy of the page does not concern.
  await page.evaluate(axe.source);
  for (const scheme of ["light", "dark"]) {
    await page.emulateMediaFeatures([
      { name: "prefers-color-scheme", value: scheme },
      { name: "prefers-reduced-motion", value: "reduce" },
    ]);
    for (const width of widths) {
      await page.setViewport({ width, height: 900 });
      const excess = Number(await page.evaluate("document.documentElement.scrollWidth - innerWidth"));
      if (excess > 0) flaws.push(`${view} ${width}: wider than the window by ${excess} px`);
      // The rules cost a second each time: colours differ by scheme, the layout by width.
      if (width !== (scheme === "light" ? 375 : 2_560)) continue;
      const found = (await page.evaluate(
        "axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations.map(({ id, nodes }) => id + ' ' + nodes.slice(0, 3).map(({ html }) => html.slice(0, 120)).join(' | ')))",
      )) as readonly string[];
      flaws.push(...found.map((violation) => `${view} ${width} ${scheme}: ${violation}`));
    }
  }
  return flaws;
}
