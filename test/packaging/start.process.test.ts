import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { after, before, describe, test, type TestContext } from "node:test";
import { codeCacheFile } from "../../src/core/program/code-cache.ts";
import { openFakeCluster } from "../fake/fake-node.ts";
import { freePort } from "../fake/free-port.ts";
import { writeConfigFile } from "../fake/config-file.ts";
import { until } from "../fake/until.ts";

const limit = { timeout: 120_000 };
const program = resolve("dist/main.js");
const names = ["serve", "worker"].map((name) =>
  basename(
    codeCacheFile("", {
      bundle: name,
      url: pathToFileURL(resolve(`dist/${name}.cjs`)).href,
      source: readFileSync(`dist/${name}.cjs`, "latin1"),
    }),
  ),
);

describe("the code cache of a service from files", () => {
  const home = mkdtempSync(join(tmpdir(), "rolecall-start-"));
  const folder = join(home, ".cache", "rolecall");
  before(() => chmodSync(home, 0o755));
  after(() => rmSync(home, { recursive: true, force: true }));

  /** Starts the built program with a worker until it is ready, and stops it. @returns what it wrote on stderr */
  async function startOnce(
    context: TestContext,
    { env = { HOME: home }, uid }: { readonly env?: NodeJS.ProcessEnv; readonly uid?: number } = {},
  ): Promise<string> {
    const [node] = await openFakeCluster(context, ["pg1"]);
    const [port, admin] = [await freePort(), await freePort()];
    const file = writeConfigFile(
      context,
      `clusters: [{ name: demo, nodes: [{ name: pg1, api: "${node?.api}" }] }]
listen: [{ port: ${port} }, { port: ${admin}, dialect: admin }]
workers: 1
log: { level: error }
drain: 0s
`,
    );
    if (uid !== undefined) {
      chmodSync(join(file, ".."), 0o755);
      chmodSync(file, 0o644);
    }
    const child = spawn(process.execPath, [program, "serve", "--config", file], {
      env,
      stdio: ["ignore", "ignore", "pipe"],
      ...(uid === undefined ? {} : { uid, gid: uid }),
    });
    context.after(() => child.kill("SIGKILL"));
    return stopWhenReady(child, admin);
  }

  const inodes = (): readonly number[] => names.map((name) => statSync(join(folder, name)).ino);

  test("the first start saves it, and the second start uses what is saved", limit, async (context) => {
    assert.equal(await startOnce(context), "");
    assert.deepEqual(readdirSync(folder).toSorted(), names);
    const first = inodes();
    assert.equal(await startOnce(context), "");
    // One that V8 rejects is replaced.
    assert.deepEqual(inodes(), first);
  });

  test("a damaged one is ignored and replaced", limit, async (context) => {
    const [file = ""] = names.map((name) => join(folder, name));
    const content = readFileSync(file);
    const damaged = Buffer.from(content).fill(0xff, content.length / 2, content.length / 2 + 4_096);
    writeFileSync(file, damaged);
    assert.equal(await startOnce(context), "");
    assert.ok(!readFileSync(file).equals(damaged));
  });

  test("one of other code is ignored and replaced", limit, async (context) => {
    const [serve = "", worker = ""] = names.map((name) => join(folder, name));
    const foreign = readFileSync(serve);
    writeFileSync(worker, foreign);
    assert.equal(await startOnce(context), "");
    assert.ok(!readFileSync(worker).equals(foreign));
  });

  test("two first starts at once leave one that later starts use", limit, async (context) => {
    for (const name of names) rmSync(join(folder, name));
    assert.deepEqual(await Promise.all([startOnce(context), startOnce(context)]), ["", ""]);
    assert.deepEqual(readdirSync(folder).toSorted(), names);
    const saved = inodes();
    assert.equal(await startOnce(context), "");
    assert.deepEqual(inodes(), saved);
  });

  test("a service starts without a place for it", limit, async (context) => {
    assert.equal(await startOnce(context, { env: {} }), "");
  });

  const isRoot = process.geteuid?.() === 0;
  test(
    "a service of a user who can write nothing starts, and uses the cache of nobody else",
    { ...limit, skip: isRoot ? false : "not run: needs root" },
    async (context) => {
      const written = inodes();
      assert.equal(await startOnce(context, { uid: 65_534 }), "");
      assert.deepEqual(inodes(), written);
    },
  );
});

async function stopWhenReady(child: ChildProcess, admin: number): Promise<string> {
  let stderr = "";
  child.stderr?.on("data", (text: Buffer) => (stderr += text.toString()));
  const ended = once(child, "close");
  await until({ what: "readiness", seconds: 60, evidence: () => stderr }, async () => {
    if (child.exitCode !== null) throw new Error(`It ended with ${child.exitCode}: ${stderr}`);
    // A worker may be there before the first round of probes has ended.
    if ((await fetch(`http://127.0.0.1:${admin}/readyz`).catch(() => null))?.status !== 200) return false;
    const metrics = await fetch(`http://127.0.0.1:${admin}/metrics`).catch(() => null);
    return metrics !== null && /^rolecall_workers 1$/m.test(await metrics.text());
  });
  child.kill("SIGTERM");
  assert.deepEqual(await ended, [0, null]);
  return stderr;
}
