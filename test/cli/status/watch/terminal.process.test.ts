import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { after, afterEach, before, test } from "node:test";
import type { StatusCluster } from "../../../../src/core/command/client/cluster-status.ts";
import { serveCannedAnswers } from "../../../fake/canned-server.ts";
import { statusCluster, statusNode, unfitNode } from "../../../fake/status-clusters.ts";
import { FakeTerminal } from "../../../fake/terminal.ts";
import { temporaryFolder } from "../../../fake/temporary-folder.ts";

const size = { rows: 24, columns: 60 };
const broken = statusCluster("shop-14", {
  nodes: [statusNode("pg1", { role: "primary" }), unfitNode("pg2", "down", { error: "refused" })],
});
const clusters: readonly StatusCluster[] = [
  ...Array.from({ length: 13 }, (_, index) => statusCluster(`shop-${index + 1}`)),
  broken,
];
type Server = Awaited<ReturnType<typeof serveCannedAnswers>>;
let server: Server;

before(async () => {
  server = await serveStatus(clusters);
});

after(() => server.close());

/** A test that fails leaves its program behind. */
const opened: FakeTerminal[] = [];
afterEach(() => {
  for (const terminal of opened.splice(0)) terminal.kill();
});

function serveStatus(shown: readonly StatusCluster[]): Promise<Server> {
  return serveCannedAnswers({ "/status": { body: { instance: "aa", snapshot: 1, clusters: shown } } });
}

function watch(url: string, ...more: readonly string[]): FakeTerminal {
  const terminal = new FakeTerminal(["status", "--watch", "--interval", "100ms", "--server", url, ...more], size);
  opened.push(terminal);
  return terminal;
}

/** Whether a line of the screen begins with this text. */
function begins(start: string): (screen: readonly string[]) => boolean {
  return (screen) => screen.some((line) => line.startsWith(start));
}

/** The first line below the head of the table. */
function firstRow(screen: readonly string[]): string {
  return screen[screen.findIndex((line) => line.includes("NODE")) + 1] ?? "";
}

function assertRestored(terminal: FakeTerminal): void {
  const { output } = terminal;
  assert.ok(output.includes("\u001b[?1049h"), "opens the alternate screen");
  assert.ok(output.lastIndexOf("\u001b[?1049l") > output.lastIndexOf("\u001b[?1049h"), "closes the alternate screen");
  assert.ok(output.lastIndexOf("\u001b[?25h") > output.lastIndexOf("\u001b[?25l"), "shows the cursor");
}

test("of 14 clusters in 24 rows the broken one is first, and keys scroll, sort, filter and search", async () => {
  const terminal = watch(server.url);
  const first = await terminal.shows("the broken cluster", begins("shop-14"));
  assert.match(firstRow(first), /^shop-14 {2}leader pg1, timeline 3, 1 of 2 fit$/);
  assert.equal(first.length, size.rows);
  for (const line of first) assert.ok(line.length < size.columns, line);
  assert.ok(begins("q quit")(first), "the footer lists the keys");
  terminal.press("\u001b[B");
  await terminal.shows("the table scrolled by one line", (screen) => firstRow(screen).startsWith("  1 node out"));
  terminal.press("\u001b[F");
  await terminal.shows("the end of the table", (screen) => screen.some((line) => line.includes("--node shop-14/pg2")));
  terminal.press("\u001b[H");
  await terminal.shows("the start of the table", (screen) => firstRow(screen).startsWith("shop-14"));
  terminal.press("s");
  await terminal.shows("the order by name", (screen) => firstRow(screen).startsWith("shop-1 "));
  terminal.press("p");
  await terminal.shows("only the problem", (screen) => !begins("shop-1 ")(screen) && begins("shop-14")(screen));
  terminal.press("p/SHOP-7");
  await terminal.shows("the name to find", (screen) => begins("find: SHOP-7_")(screen) && !begins("shop-1 ")(screen));
  terminal.press("\r");
  await terminal.shows("the found cluster", (screen) => firstRow(screen).startsWith("shop-7 "));
  terminal.press("q");
  assert.equal(await terminal.ended(), 0);
  assertRestored(terminal);
});

test("the table follows the size of the terminal", async () => {
  const terminal = watch(server.url);
  await terminal.shows("the narrow table", (screen) => screen.length === 24 && begins("shop-14")(screen));
  await terminal.resize({ rows: 40, columns: 130 });
  await terminal.shows(
    "the wide table",
    (screen) => screen.length === 40 && screen.some((line) => line.includes("LAG TIME")),
  );
  terminal.press("\u0003");
  assert.equal(await terminal.ended(), 0);
  assertRestored(terminal);
});

test("a paused table keeps its data and says how old it is", async () => {
  const own = await serveStatus(clusters);
  const terminal = watch(own.url);
  await terminal.shows("the table", begins("shop-14"));
  terminal.press(" ");
  await terminal.shows("the pause", begins("paused, as of"));
  await own.close();
  assert.ok(begins("shop-14")(terminal.screen));
  terminal.press(" ");
  await terminal.shows("the lost connection", begins("Cannot reach rolecall"));
  terminal.press("q");
  assert.equal(await terminal.ended(), 0);
});

test("a lost connection is shown with the age of the data, and the table stays, greyed", async () => {
  const own = await serveStatus(clusters);
  const terminal = watch(own.url);
  await terminal.shows("the table", begins("shop-14"));
  await own.close();
  const lost = await terminal.shows("the lost connection", begins("Cannot reach rolecall"));
  assert.match(lost.join(" "), /as of \d+(\.\d)? s +ago, +retrying/);
  assert.ok(begins("shop-14")(lost));
  assert.ok(terminal.output.includes("\u001b[2mshop-14"));
  terminal.press("q");
  assert.equal(await terminal.ended(), 0);
});

for (const signal of ["SIGTERM", "SIGINT"] as const) {
  test(`${signal} restores the terminal`, async () => {
    const terminal = watch(server.url);
    await terminal.shows("the table", begins("shop-14"));
    terminal.signal(signal);
    assert.equal(await terminal.ended(), 2);
    assertRestored(terminal);
  });
}

test("a crash restores the terminal, and its error is shown after that", async () => {
  const folder = temporaryFolder("crash");
  const [crash, cause] = [join(folder, "crash.mjs"), join(folder, "now")];
  const code = `if (existsSync(${JSON.stringify(cause)})) throw new Error("a planted error");`;
  writeFileSync(crash, `import { existsSync } from "node:fs";\nsetInterval(() => { ${code} }, 50);`);
  const argv = ["status", "--watch", "--server", server.url];
  const terminal = new FakeTerminal(argv, size, ["--import", pathToFileURL(crash).href]);
  await terminal.shows("the table", begins("shop-14"));
  writeFileSync(cause, "");
  assert.equal(await terminal.ended(), 2);
  assertRestored(terminal);
  assert.ok(terminal.output.indexOf("a planted error") > terminal.output.lastIndexOf("\u001b[?1049l"));
});

test("a cluster that does not exist ends the command with its error", async () => {
  const terminal = watch(server.url, "--cluster", "nowhere");
  assert.equal(await terminal.ended(), 2);
  assertRestored(terminal);
  assert.match(terminal.output, /--cluster must be one of shop-1, /);
});
