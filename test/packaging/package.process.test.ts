import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync, type SpawnSyncReturns } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, normalize, resolve } from "node:path";
import { after, before, describe, test } from "node:test";
import { readMarkdown } from "../docs/markdown.ts";
import { until } from "../fake/until.ts";
import { assertWorks } from "./artefact.ts";

interface Manifest {
  readonly version: string;
  readonly private?: boolean;
  readonly man?: readonly string[];
  readonly scripts: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
}

/** Commands that need a running server, and succeed on the demo. */
const onDemo = [
  ["status"],
  ["check", "/primary", "--node", "pg1"],
  ["explain", "/primary"],
  ["history"],
  ["drain", "pg2", "--for", "1m", "--reason", "test"],
  ["drain", "--list"],
  ["drain", "pg2", "--end"],
  ["incident", "--format", "json"],
  ["switchover", "--cluster", "demo", "--dry-run", "--leader", "pg1", "--candidate", "pg3"],
  ["render", "haproxy"],
] as const;

const manifest: Manifest = JSON.parse(readFileSync("package.json", "utf8"));

describe("the npm package", () => {
  const scratch = mkdtempSync(join(tmpdir(), "rolecall-package-"));
  /** Where `npm install --global --prefix` puts packages. */
  const modules = join(scratch, "lib", "node_modules");
  const root = join(modules, "rolecall");
  const program = join(root, "dist", "main.js");
  let files: readonly string[] = [];

  before(() => {
    const tarball = pack(join(scratch, "one"));
    mkdirSync(root, { recursive: true });
    execFileSync("tar", ["--extract", "--gzip", "--strip-components=1", "--file", tarball, "--directory", root]);
    files = readdirSync(root, { recursive: true, encoding: "utf8" }).filter((name) => !isFolder(join(root, name)));
    // Only what the package declares is found beside it.
    for (const name of Object.keys(manifest.dependencies)) {
      // A name with a scope is in a folder of its own.
      mkdirSync(dirname(join(modules, name)), { recursive: true });
      symlinkSync(resolve("node_modules", name), join(modules, name));
    }
  });
  after(() => rmSync(scratch, { recursive: true, force: true }));

  const run = (...args: readonly string[]): SpawnSyncReturns<string> =>
    spawnSync(process.execPath, [program, ...args], { encoding: "utf8", cwd: scratch, timeout: 60_000 });

  test("can be published, and is built before it is packed", () => {
    assert.equal(manifest.private, undefined);
    assert.match(manifest.scripts["prepack"] ?? "", /\bbuild\b/);
    // npm 11 links manual pages of a list only.
    assert.ok(Array.isArray(manifest.man) && manifest.man.every((page) => existsSync(page)));
  });

  test("holds the program, its documents and its licence; no tests, sources, maps or paths of this machine", () => {
    for (const wanted of [
      "dist/main.js",
      "dist/app/worker.js",
      "dist/app/registry/guardian.js",
      "LICENSE",
      "docs/haproxy.md",
      "deploy/helm/rolecall/Chart.yaml",
      "deploy/kubernetes/rolecall.yaml",
      "deploy/systemd/rolecall.service",
      "packaging/man/rolecall.1",
    ])
      assert.ok(files.includes(wanted), wanted);
    const unwanted = /(^|\/)(test|node_modules|build)\/|\.(ts|map|test\.js)$|^\./;
    assert.deepEqual(
      files.filter((name) => unwanted.test(name)),
      [],
    );
    assert.deepEqual(
      files.filter((name) => readFileSync(join(root, name), "utf8").includes(resolve("."))),
      [],
    );
  });

  test("the links of its documents for users lead to files of the package", () => {
    const documents = files.filter((name) => /^(docs\/.*|deploy\/.*|README|SECURITY|CHANGELOG)\.?(md)?$/.test(name));
    const broken = documents
      .filter((name) => name.endsWith(".md"))
      .flatMap((name) => readMarkdown(name).links.map(({ text, place }) => ({ name, text, place })))
      .filter(({ text }) => !text.includes("://") && !text.startsWith("#"))
      .filter(({ name, text }) => !isIn(normalize(join(dirname(name), text.replace(/#.*/, ""))), files));
    assert.deepEqual(broken, []);
  });

  test("is the same, byte for byte, when it is packed again", () => {
    assert.deepEqual(readFileSync(pack(join(scratch, "two"))), readFileSync(tarballIn(join(scratch, "one"))));
  });

  test("every command works from it while a node is dead, and the log refers to its documents", async () => {
    await assertWorks({ command: [process.execPath, program], env: { PATH: process.env["PATH"] }, hasDocuments: true });
  });

  for (const [args, expected] of [
    [["version"], new RegExp(`^rolecall ${manifest.version} \\(commit ${commitOfTree()}\\)\n$`)],
    [["doctor", "--offline", join(root, "config", "rolecall.yaml")], /is valid/],
  ] as const)
    test(`rolecall ${args[0]} ${args[1]?.replace(/.*\//, "") ?? ""} runs from it`, () => {
      const { status, stdout, stderr } = run(...args);
      assert.equal(status, 0, stderr);
      assert.match(stdout + stderr, expected);
    });

  test("the demo starts, answers and ends with 0 on Ctrl-C", { timeout: 60_000 }, async () => {
    const child = spawn(process.execPath, [program, "demo", "--port", "0"], { cwd: scratch });
    const ended = once(child, "exit");
    let out = "";
    child.stdout.on("data", (chunk: Buffer) => (out += chunk.toString()));
    const health = await until("the banner of the demo", () => /http:\/\/127\.0\.0\.1:\d+\/nodes\/pg1/.exec(out)?.[0]);
    await until("a yes", async () => (await fetch(`${health}/primary`)).status === 200);
    const [, server = ""] = /--server (http:\/\/127\.0\.0\.1:\d+)/.exec(out) ?? [];
    for (const args of onDemo) {
      const { status, stderr } = run(...args, "--server", server);
      assert.equal(status, 0, `${args.join(" ")}: ${stderr}`);
    }
    child.kill("SIGINT");
    assert.deepEqual((await ended)[0], 0);
  });
});

/** Packs the package as it is built. @returns the tarball */
function pack(folder: string): string {
  mkdirSync(folder, { recursive: true });
  execFileSync("npm", ["pack", "--ignore-scripts", "--silent", "--pack-destination", folder], { stdio: "ignore" });
  return tarballIn(folder);
}

function tarballIn(folder: string): string {
  return join(folder, `rolecall-${manifest.version}.tgz`);
}

function isFolder(path: string): boolean {
  return statSync(path).isDirectory();
}

function isIn(target: string, files: readonly string[]): boolean {
  return files.some((name) => name === target || name.startsWith(`${target.replace(/\/$/, "")}/`));
}

/** The commit of this tree, as a build names it. */
function commitOfTree(): string {
  return readFileSync("dist/commit.txt", "utf8").trim();
}
