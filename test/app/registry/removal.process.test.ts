/**
 * Each feature can be taken away: in a copy without its folder and its rows in the registries the program compiles, the
 * tests of the core pass, and `serve` answers. Two features by the hash of the commit; `FEATURES=all` takes each,
 * `FEATURES=agent,xds` these.
 */
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import { test } from "node:test";
import { freePort } from "../../fake/free-port.ts";
import { until } from "../../fake/until.ts";

const features = readdirSync("src/features").sort();
/** Folders whose tests only compute, and which every feature rests on. */
const coreFolders = ["cluster", "health", "pools", "feature", "events"].map((folder) => join("core", folder));

for (const feature of chosen())
  test(`without ${feature} the program compiles, the core's tests pass, and serve answers`, async (context) => {
    const copy = mkdtempSync(join(tmpdir(), "rolecall-without-"));
    context.after(() => rmSync(copy, { recursive: true, force: true }));
    for (const part of ["src", "test", "proof", "bench", "docs", "config", "tsconfig.json", "package.json"])
      cpSync(part, join(copy, part), { recursive: true });
    symlinkSync(resolve("node_modules"), join(copy, "node_modules"));
    removeFeature(copy, feature);
    run(copy, "node_modules/.bin/tsc", ["-p", ".", "--noEmit"]);
    removeTests(copy, feature);
    // Fakes and fixtures of the whole program may name the keys of a feature: what they compile to runs all the same.
    spawnSync("node_modules/.bin/tsc", ["-p", "test"], { cwd: copy });
    const tests = coreFolders.flatMap((folder) => testsIn(copy, join("build", "test", folder)));
    assert.ok(tests.length > 50, `${tests.length} files of tests`);
    run(copy, process.execPath, ["--test", "--test-reporter=dot", "--test-concurrency=2", ...tests]);
    for (const tool of ["render", "doctor"]) run(copy, process.execPath, ["build/src/main.js", tool, "--help"]);
    await serves(copy);
  });

function chosen(): readonly string[] {
  const { FEATURES: wanted } = process.env;
  if (wanted === "all") return features;
  if (wanted !== undefined) return wanted.split(",");
  const { stdout } = spawnSync("git", ["rev-parse", "HEAD"], { encoding: "utf8" });
  const at = Number.parseInt(stdout.slice(0, 8), 16);
  // Without a repository it is always the first two.
  const first = Number.isNaN(at) ? 0 : at % features.length;
  return [0, 1].map((step) => features[(first + step) % features.length] ?? "");
}

/** Deletes the folder of a feature, and what the registries import from it. */
function removeFeature(copy: string, feature: string): void {
  rmSync(join(copy, "src/features", feature), { recursive: true });
  const registry = join(copy, "src/app/registry");
  for (const file of readdirSync(registry)) {
    const text = readFileSync(join(registry, file), "utf8");
    const names: string[] = [];
    const imports = new RegExp(`import (?:type )?\\{([^}]*)\\} from "\\.\\./\\.\\./features/${feature}/[^"]*";\n`, "g");
    let rest = text.replace(imports, (_, list: string) => {
      // A list on several lines has a comma at its end.
      const imported = list.split(",").map((name) => name.replace("type ", "").trim());
      names.push(...imported.filter((name) => name !== ""));
      return "";
    });
    for (const name of names)
      rest = rest.replace(
        new RegExp(
          `(?:\\b\\w+: )?(?:\\.\\.\\.)?(?:featureIn\\()?\\b${name}\\b(?:\\(written\\))?(?:, context\\))?,? ?`,
          "g",
        ),
        "",
      );
    writeFileSync(join(registry, file), rest);
  }
}

/** Deletes the tests that import the feature, themselves or by others. */
function removeTests(copy: string, feature: string): void {
  const gone = join(copy, "src/features", feature);
  const files = ["test", "proof", "bench"].flatMap((folder) =>
    readdirSync(join(copy, folder), { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".ts"))
      .map((file) => join(copy, folder, file)),
  );
  const imports = new Map(
    files.map((file) => [
      file,
      [...readFileSync(file, "utf8").matchAll(/(?:from|import\() ?"(\.[^"]+)"/g)].map(([, path = ""]) =>
        resolve(dirname(file), path),
      ),
    ]),
  );
  const removed = new Set<string>();
  for (let before = -1; before < removed.size;) {
    before = removed.size;
    for (const [file, imported] of imports)
      if (imported.some((path) => path.startsWith(`${gone}/`) || removed.has(path))) removed.add(file);
  }
  for (const file of removed) rmSync(file);
}

function testsIn(copy: string, folder: string): readonly string[] {
  return readdirSync(join(copy, folder), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".test.js") && !file.includes(".property."))
    .map((file) => join(folder, file));
}

function run(copy: string, program: string, args: readonly string[]): void {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd: copy, encoding: "utf8", maxBuffer: 1 << 28 });
  assert.equal(status, 0, `${relative(copy, program)}: ${`${stdout}${stderr}`.slice(-4_000)}`);
}

async function serves(copy: string): Promise<void> {
  const [port, dead] = [await freePort(), await freePort()];
  const args = ["serve", "--discover", `http://127.0.0.1:${dead}`, "--listen", `127.0.0.1:${port}`];
  const child = spawn(process.execPath, ["build/src/main.js", ...args], {
    cwd: copy,
    stdio: ["ignore", "ignore", "pipe"],
  });
  const ended = new Promise<void>((done) => void child.once("exit", () => done()));
  let said = "";
  child.stderr.on("data", (chunk: Buffer) => (said += chunk.toString()));
  try {
    const status = await until({ what: "an answer of /livez", evidence: () => said.slice(-2_000) }, async () => {
      const answer = await fetch(`http://127.0.0.1:${port}/livez`).catch(() => null);
      return answer?.status;
    });
    assert.equal(status, 200);
    assert.notEqual((await fetch(`http://127.0.0.1:${port}/clusters/main/primary`)).status, 200);
  } finally {
    child.kill();
    await ended;
  }
}
