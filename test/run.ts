/** Runs every compiled test file by an explicit list (`node --test DIR` fails on Node 24): `node build/test/run.js [real]`. */
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join, sep } from "node:path";

const real = process.argv[2] === "real";
const room = join("build", "test");
const files = readdirSync(room, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".test.js") && file.startsWith(`real${sep}`) === real)
  .map((file) => join(room, file))
  .sort();
if (files.length === 0) throw new Error(`Cannot run tests as ${room} must hold *.test.js files: it holds none`);
// Real servers share ports and processes, so their files run one after the other.
const concurrency = real ? ["--test-concurrency=1"] : [];
// A file that hangs must say so, and not use up the time of all.
const patience = `--test-timeout=${real ? 600_000 : 180_000}`;
const { status } = spawnSync(process.execPath, ["--test", "--enable-source-maps", patience, ...concurrency, ...files], {
  stdio: ["ignore", "inherit", "inherit"],
});
process.exitCode = status ?? 1;
