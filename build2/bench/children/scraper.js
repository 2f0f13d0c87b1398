/**
 * `scraper URL`: reads a page repeatedly without a pause. Prints a line after the first. Answers every line on stdin
 * with the count so far. Ends with stdin, or after a minute.
 */
import { createInterface } from "node:readline";
const [url = ""] = process.argv.slice(2);
let scrapes = 0;
setTimeout(() => process.exit(0), 60_000).unref();
createInterface(process.stdin)
    .on("line", () => process.stdout.write(`${scrapes}\n`))
    .on("close", () => process.exit(0));
for (;;) {
    const response = await fetch(url, { signal: AbortSignal.timeout(10_000) });
    const text = await response.text();
    if (response.status !== 200 || text === "")
        throw new Error(`Cannot scrape ${url}: it must answer 200, got ${response.status}`);
    scrapes += 1;
    if (scrapes === 1)
        process.stdout.write("scraping\n");
}
//# sourceMappingURL=scraper.js.map