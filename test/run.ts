/**
 * Runs compiled tests: `node build/test/run.js [processes|real|drills|drawn|quick|other-node]`. The name of a file says what it does, and
 * so where it runs:
 *
 * | file                  | what it does                                              | list                            |
 * |-----------------------|-----------------------------------------------------------|---------------------------------|
 * | `*.drill.test.ts`     | starts real servers, for a minute or longer               | `drills`: `npm run test:drills` |
 * | other of `test/real/` | starts real servers                                       | `real`: `npm run test:real`     |
 * | `*.process.test.ts`   | starts programs or browsers                               | `processes`: `test:processes`   |
 * | `*.long.test.ts`      | computes for more than 6 s of processor time              | `processes`                     |
 * | `*.workers.test.ts`   | the same without and with worker processes                | both: `worker-counts.ts`        |
 * | `*.smoke.test.ts`     | starts a program once, to see that the artefact works     | `npm test`                      |
 * | every other           | runs in its own process, with sockets on free ports       | `npm test`                      |
 *
 * `no-programs.ts` refuses to start a program in `npm test`, and test/test-kinds.test.ts reads the imports. `quick` is
 * the part of `npm test` that any change of the source may break and that needs no server: the inner loop. What CI runs is
 * in part drawn by the hash of the commit: `drawn` is `real` and some of the drills, `other-node` is `npm test` and some of
 * the processes that depend on the version of Node, on Node 24.
 * The files are listed, because `node --test DIR` fails on Node 24.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { pathToFileURL } from "node:url";

type Kind = "drill" | "real" | "process" | "long" | "workers" | "smoke" | "own";

const [, , list = ""] = process.argv;

/** Every compiled test file, by its path below `build`. */
const compiled: readonly string[] = ["test", "proof"]
  .flatMap((folder) =>
    readdirSync(join("build", folder), { recursive: true, encoding: "utf8" }).map((file) => join(folder, file)),
  )
  .filter((file) => file.endsWith(".test.js"))
  .sort();

/** The kind of a compiled test file, by its path below `build`. */
function kindOf(file: string): Kind {
  if (file.startsWith(join("test", "real", sep))) return file.endsWith(".drill.test.js") ? "drill" : "real";
  return (["process", "long", "workers", "smoke"] as const).find((kind) => file.endsWith(`.${kind}.test.js`)) ?? "own";
}

/**
 * Files of `process` that depend little on the version of Node: of documents and packages, of the demo's banner and of
 * test tools, of processes that are killed, and the directed sequences. The other list runs them.
 */
const alikeOnEachNode = [
  ...["docs", "deploy", "packaging", "bench", "incidents", "vectors-replay", join("tools", "demo")].map(
    (name) => `${name}${sep}`,
  ),
  ...["clock", "sequences", "wire"].map((name) => join("sequences", `${name}.`)),
  ...["life-of-process.", "odd-files.", "cloned-node.", "failover-parts."].map((name) => join("app", name)),
  ...["serve.", "attachment.", "probing."].map((name) => join("cli", "commands", name)),
  join("tools", "compare", "saved-comparison."),
  join("tools", "completion", "completion."),
  join("core", "log", "logger."),
  join("features", "history", "processes."),
  join("features", "switchover", "peers", "two-processes."),
]
  .map((name) => join("test", name))
  .concat(`proof${sep}`);

/** Folders of `npm test` that only compute, and the tests of the source as text. */
const quick = ["balancing", "cluster", "config", "events", "exposition", "feature", "features", "health", "metrics"];
const ofSource = [
  join("test", "architecture.test.js"),
  join("test", "test-kinds.test.js"),
  join("proof", "campaign", "planted", "bugs.test.js"),
];

/** The kinds of a list, and which of their files it has. */
const lists: Readonly<Record<string, (file: string, kind: Kind) => boolean>> = {
  "": (_, kind) => isInNpmTest(kind),
  processes: (_, kind) => kind === "process" || kind === "long" || kind === "workers",
  real: (_, kind) => kind === "real",
  drills: (_, kind) => kind === "drill",
  drawn: (file, kind) => kind === "real" || drawnOf((one) => kindOf(one) === "drill", 1 / 12).includes(file),
  quick: (file, kind) => kind === "own" && (quick.includes(folderOf(file)) || ofSource.includes(file)),
  "other-node": (file, kind) => isInNpmTest(kind) || drawnOf(isOfOneNode, 1 / 8).includes(file),
};

function isInNpmTest(kind: Kind): boolean {
  return kind === "own" || kind === "workers" || kind === "smoke";
}

/** Whether a test of processes may come out otherwise on another version of Node. */
function isOfOneNode(file: string): boolean {
  return kindOf(file) === "process" && !alikeOnEachNode.some((start) => file.startsWith(start));
}

/** A share of the files, by the hash of the commit: all have their turn. Without a repository the first ones. */
function drawnOf(isOne: (file: string) => boolean, share: number): readonly string[] {
  const all = compiled.filter(isOne);
  const { stdout } = spawnSync("git", ["rev-parse", "HEAD"], { encoding: "utf8" });
  const hash = Number.parseInt(stdout.slice(0, 8), 16);
  const first = Number.isNaN(hash) ? 0 : hash % all.length;
  const count = Math.ceil(all.length * share);
  return Array.from({ length: count }, (_, step) => all[(first + step) % all.length] ?? "");
}

/** The folder directly below `test`, `test/core` or `proof`. */
function folderOf(file: string): string {
  const [, first = "", second = ""] = file.split(sep);
  return first === "core" ? second : first;
}

const isListed = lists[list];
if (isListed === undefined)
  throw new Error(`Cannot run tests: the list must be one of ${Object.keys(lists).join(", ")}, got ${list}`);
const files = compiled.filter((file) => isListed(file, kindOf(file)));
if (files.length === 0) throw new Error("Cannot run tests: build must hold *.test.js files, got none");

/**
 * A process costs a third of a second of processor time or more, most of it to load modules, which is more than most
 * files need: one process runs many files of a folder. Those that take over the clock or the process have a process of
 * their own, and those that prepare something for the whole file: that would begin with the process.
 */
const filesPerProcess = 12;
const needsOwnProcess = /mock\.timers|process\.(?:env\[.*\] =|chdir|on)|^(?:before|after)\(/m;

function isShared(file: string): boolean {
  return (
    kindOf(file) === "own" &&
    // What these wait for would add up.
    folderOf(file) !== "app" &&
    !file.includes(".property.") &&
    !needsOwnProcess.test(readFileSync(join("build", file), "utf8"))
  );
}

/** Files that import those of one folder, at most so many each. */
function shared(folder: string, of: readonly string[]): readonly string[] {
  return Array.from({ length: Math.ceil(of.length / filesPerProcess) }, (_, at) => {
    const path = join("build", "shared", `${folder}-${at + 1}.test.js`);
    const some = of.slice(at * filesPerProcess, (at + 1) * filesPerProcess);
    const imports = some.map((file) => `import ${JSON.stringify(relative(dirname(path), join("build", file)))};\n`);
    writeFileSync(path, imports.join(""));
    return path;
  });
}

rmSync(join("build", "shared"), { recursive: true, force: true });
mkdirSync(join("build", "shared"));
const together = files.filter(isShared);
const alone = files.filter((file) => !together.includes(file));
/** Counts every read that fails: the files that are beside the first one need little of the machine. */
const isFirst = (file: string): boolean => file === join("test", "real", "failover.drill.test.js");
const processes = [
  ...[...alone.filter(isFirst), ...alone.filter((file) => !isFirst(file))].map((file) => join("build", file)),
  ...[...new Set(together.map(folderOf))].flatMap((name) =>
    shared(
      name,
      together.filter((file) => folderOf(file) === name),
    ),
  ),
];
// Most of the time a test file waits: four at a time use both cores of a small machine. Real servers have ports of
// their own in each test process, and need more of the machine.
const isReal = ["real", "drills", "drawn"].includes(list);
const concurrency = `--test-concurrency=${isReal ? 3 : 4}`;
// A test file that hangs must fail, and not use up the time of the others.
const timeout = `--test-timeout=${isReal ? 600_000 : 180_000}`;
const preloaded = ["property-seed", ...(list === "" || list === "quick" ? ["no-programs"] : [])].flatMap((name) => [
  "--import",
  pathToFileURL(join("build", "test", "fake", `${name}.js`)).href,
]);
// Its last lines are the failures, whatever came before: what remains of a long log.
const options = ["--enable-source-maps", ...preloaded, "--test-reporter=spec"];
// Where a service of this machine keeps its state is no place for those of tests.
const { STATE_DIRECTORY: _state, XDG_STATE_HOME: _home, ...environment } = process.env;
const { status } = spawnSync(process.execPath, [...options, "--test", timeout, concurrency, ...processes], {
  stdio: ["ignore", "inherit", "inherit"],
  env: { ...environment, TEST_LIST: list },
});
process.exitCode = status ?? 1;
