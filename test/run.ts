/**
 * Runs the compiled tests: `node build/test/run.js` runs those that need no other program, `node build/test/run.js real`
 * those against real servers. Files are listed one by one, as `node --test DIR` fails on Node 24.
 */
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join, sep } from "node:path";

const isReal = process.argv[2] === "real";
const folder = join("build", "test");
const files = readdirSync(folder, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".test.js") && file.startsWith(`real${sep}`) === isReal)
  .map((file) => join(folder, file))
  .sort();
if (files.length === 0) {
  throw new Error(`Cannot run tests: ${folder} must hold *.test.js files, got none. Run \`npm run build:test\` first`);
}
// Real servers share ports and processes, so their files run one after the other.
const concurrency = isReal ? ["--test-concurrency=1"] : [];
// A file that hangs fails by itself and leaves the others their time.
const timeout = `--test-timeout=${isReal ? 600_000 : 180_000}`;
const { status } = spawnSync(process.execPath, ["--test", "--enable-source-maps", timeout, ...concurrency, ...files], {
  stdio: ["ignore", "inherit", "inherit"],
});
process.exitCode = status ?? 1;
