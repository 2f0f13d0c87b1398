/**
 * Runs all compiled test files from an explicit list, because `node --test DIR` fails on Node 24:
 * `node build/test/run.js [real|code|quick]`. `code` leaves out what depends little on the version of Node: the tests of
 * documents and packages, of the demo's banner and of test tools, of processes that are killed, the directed sequences,
 * and the property tests. `quick` runs what needs neither a server nor another process, and what any change of the source
 * may break: the inner loop.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { pathToFileURL } from "node:url";

const [, , which = ""] = process.argv;
/** What depends little on the version of Node: whole folders, and single files. */
const everywhereAlike = [
  ...["docs", "deploy", "packaging", "bench", "incidents", "vectors-replay", join("cli", "demo")].map(
    (name) => `${name}${sep}`,
  ),
  ...["clock", "sequences", "wire"].map((name) => join("sequences", `${name}.`)),
  ...["life-of-process.", "odd-files.", "cloned-node.", "failover-parts."].map((name) => join("app", name)),
  ...["serve.", "completion.", "attachment.", "probing."].map((name) => join("cli", "commands", name)),
  join("cli", "compare", "saved-comparison."),
  join("log", "logger."),
  join("history", "processes."),
  join("switchover", "peers", "two-processes."),
].map((name) => join("test", name));
const left = which === "code" ? [...everywhereAlike, `proof${sep}`] : [];
const files = ["test", "proof"]
  .flatMap((folder) =>
    readdirSync(join("build", folder), { recursive: true, encoding: "utf8" }).map((file) => join(folder, file)),
  )
  .filter((file) => file.endsWith(".test.js") && file.startsWith(join("test", "real", sep)) === (which === "real"))
  .filter(
    (file) => left.every((start) => !file.startsWith(start)) && !(which === "code" && file.includes(".property.")),
  )
  .map((file) => join("build", file))
  .sort();
if (files.length === 0) throw new Error("Cannot run tests: build must hold *.test.js files, got none");

/** Folders whose tests only compute. */
const computing = [
  "balancing",
  "cluster",
  "config",
  "events",
  "exposition",
  "feature",
  "features",
  "health",
  "metrics",
];
/** Tests of the source as text. */
const ofSource = [join("test", "architecture.test.js"), join("proof", "campaign", "planted", "bugs.test.js")].map(
  (file) => join("build", file),
);

/**
 * A process costs half a second of processor time or more, most of it to load modules, which is more than most files
 * need: one process runs many files of a folder. Those that start processes, take over the clock or compute for long
 * have a process of their own, and those that prepare something for the whole file: that would begin with the process.
 */
const filesPerProcess = 12;
const needsOwnProcess =
  /child_process|rolecall-process|terminal\.js|mock\.timers|process\.(?:env\[.*\] =|chdir|on)|^(?:before|after)\(/m;

/** Folders whose files compute for long, or wait for long. */
const long = new Set(["app", "sequences", "incidents", "vectors-replay", "docs", "campaign", "exhaustive"]);

function isShared(file: string): boolean {
  return !long.has(folderOf(file)) && !file.includes(".property.") && !needsOwnProcess.test(readFileSync(file, "utf8"));
}

/** The folder directly below `build/test`. */
function folderOf(file: string): string {
  return file.split(sep)[2] ?? "";
}

/** Files that import those of one folder, at most so many each. */
function shared(folder: string, of: readonly string[]): readonly string[] {
  return Array.from({ length: Math.ceil(of.length / filesPerProcess) }, (_, at) => {
    const path = join("build", "shared", `${folder}-${at + 1}.test.js`);
    const some = of.slice(at * filesPerProcess, (at + 1) * filesPerProcess);
    const imports = some.map((file) => `import ${JSON.stringify(relative(dirname(path), file))};\n`);
    writeFileSync(path, imports.join(""));
    return path;
  });
}

rmSync(join("build", "shared"), { recursive: true, force: true });
mkdirSync(join("build", "shared"));
const together = which === "real" ? [] : files.filter(isShared);
const alone = which === "quick" ? ofSource : files.filter((file) => !together.includes(file));
const folders = [...new Set(together.map(folderOf))].filter((name) => which !== "quick" || computing.includes(name));
/** Counts every read that fails: the files that are beside the first one need little of the machine. */
const isFirst = (file: string): boolean => file.endsWith(join("real", "failover.test.js"));
const processes = [
  ...alone.filter(isFirst),
  ...alone.filter((file) => !isFirst(file)),
  ...folders.flatMap((name) =>
    shared(
      name,
      together.filter((file) => folderOf(file) === name),
    ),
  ),
];
// Most of the time a test file waits: four at a time use both cores of a small machine. Real servers have ports of
// their own in each test process, and need more of the machine.
const concurrency = [`--test-concurrency=${which === "real" ? 3 : 4}`];
// A test file that hangs must fail, and not use up the time of the others.
const timeout = `--test-timeout=${which === "real" ? 600_000 : 180_000}`;
const propertySeed = pathToFileURL(join("build", "test", "fake", "property-seed.js")).href;
// Its last lines are the failures, whatever came before: what remains of a long log.
const options = ["--enable-source-maps", "--import", propertySeed, "--test-reporter=spec"];
const { status } = spawnSync(process.execPath, [...options, "--test", timeout, ...concurrency, ...processes], {
  stdio: ["ignore", "inherit", "inherit"],
});
process.exitCode = status ?? 1;
