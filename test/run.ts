/**
 * Runs all compiled test files from an explicit list, because `node --test DIR` fails on Node 24:
 * `node build/test/run.js [real|code]`. `code` leaves out what depends little on the version of Node: the tests of
 * documents and packages, of the demo's banner and of test tools, of processes that are killed, the directed sequences,
 * and the property tests.
 */
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join, sep } from "node:path";
import { pathToFileURL } from "node:url";

const real = process.argv[2] === "real";
const isCode = process.argv[2] === "code";
const slow = ["docs", "packaging", "bench", join("cli", "demo")].map((name) => join("test", name, sep));
const sequences = ["clock", "sequences", "wire"].map((name) => join("test", "sequences", `${name}.`));
const left = isCode ? [...slow, ...sequences, join("test", "app", "life-of-process."), `proof${sep}`] : [];
const files = ["test", "proof"]
  .flatMap((folder) =>
    readdirSync(join("build", folder), { recursive: true, encoding: "utf8" }).map((file) => join(folder, file)),
  )
  .filter((file) => file.endsWith(".test.js") && file.startsWith(join("test", "real", sep)) === real)
  .filter((file) => left.every((start) => !file.startsWith(start)) && !(isCode && file.includes(".property.")))
  .map((file) => join("build", file))
  .sort();
if (files.length === 0) throw new Error(`Cannot run tests: build must hold *.test.js files, got none`);
// Most of the time a test file waits: four at a time use both cores of a small machine. Real servers have ports of
// their own in each test process.
const concurrency = [`--test-concurrency=${real ? 2 : 4}`];
// A test file that hangs must fail, and not use up the time of the others.
const timeout = `--test-timeout=${real ? 600_000 : 180_000}`;
const propertySeed = pathToFileURL(join("build", "test", "fake", "property-seed.js")).href;
// Its last lines are the failures, whatever came before: what remains of a long log.
const options = ["--enable-source-maps", "--import", propertySeed, "--test-reporter=spec"];
const { status } = spawnSync(process.execPath, [...options, "--test", timeout, ...concurrency, ...files], {
  stdio: ["ignore", "inherit", "inherit"],
});
process.exitCode = status ?? 1;
