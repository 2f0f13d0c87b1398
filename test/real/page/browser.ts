import { accessSync, constants } from "node:fs";
import type { TestContext } from "node:test";
import type { Browser, Credentials, Page } from "puppeteer-core";

/** Where Debian puts Chromium; CHROMIUM names another one. */
const chromium = process.env["CHROMIUM"] ?? "/usr/bin/chromium";

/** Whether there is a browser on this machine. */
export function hasBrowser(): boolean {
  try {
    accessSync(chromium, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Starts a browser without a window. Its requests reach this machine alone. */
export async function startBrowser(): Promise<Browser> {
  const { launch } = await import("puppeteer-core");
  const args = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
  ];
  return launch({ executablePath: chromium, args, headless: true });
}

/** A page, and what went wrong in it: errors, violations of the content policy, requests to other hosts. */
export interface WatchedPage {
  readonly page: Page;
  readonly problems: string[];
  /** The text of an element; empty if there is none. */
  readonly text: (selector: string) => Promise<string>;
}

/** Opens a page that collects what goes wrong in it. */
export async function openPage(
  browser: Browser,
  url: string,
  context?: TestContext,
  user?: Credentials,
): Promise<WatchedPage> {
  const page = await browser.newPage();
  if (user !== undefined) await page.authenticate(user);
  context?.after(() => page.close().catch(() => {}));
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(`error: ${String(error)}`));
  page.on("console", (message) => {
    if (message.type() === "error") problems.push(`console: ${message.text()}`);
  });
  page.on("request", (request) => {
    if (new URL(request.url()).origin !== new URL(url).origin) problems.push(`request: ${request.url()}`);
  });
  await page.goto(url, { waitUntil: "domcontentloaded", timeout: 60_000 });
  const text = (selector: string): Promise<string> =>
    page.$eval(selector, (element) => (element as unknown as { innerText: string }).innerText).catch(() => "");
  return { page, problems, text };
}
