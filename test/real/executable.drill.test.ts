import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync, type ChildProcess } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { freePort } from "../fake/free-port.ts";
import { until } from "../fake/until.ts";
import { assertWorks } from "../packaging/artefact.ts";
import { workersAnswer } from "../fake/workers-answer.ts";

const node24 = process.env["NODE_24"];
const skip = node24 === undefined ? "not run: NODE_24 names no Node 24" : false;
if (skip !== false) console.log(`executable: ${skip}`);

describe("the single executable and its Debian package", { skip }, () => {
  const scratch = mkdtempSync(join(tmpdir(), "rolecall-executable-test-"));
  const [executable, packageFile] = [join(scratch, "rolecall"), join(scratch, "rolecall.deb")];
  const children: ChildProcess[] = [];
  const environment = { ...process.env, SOURCE_DATE_EPOCH: "1700000000" };
  const build = (script: string, ...args: readonly string[]): void =>
    void execFileSync(process.execPath, [`packaging/${script}`, ...args], { env: environment, stdio: "ignore" });

  before(() => {
    build("executable.mjs", node24 ?? "", executable);
    build("deb.mjs", executable, packageFile);
  });
  after(() => {
    for (const child of children) child.kill("SIGKILL");
    rmSync(scratch, { recursive: true, force: true });
  });

  /** Starts a program without anything from the environment. */
  function start(program: string, ...args: readonly string[]): ChildProcess {
    const child = spawn(program, args, { cwd: scratch, env: {}, stdio: ["ignore", "ignore", "pipe"] });
    children.push(child);
    return child;
  }

  /** Serves simulated nodes with two workers until checks are answered. @returns the ports, and the processes */
  async function serve(program: string): Promise<{ serving: ChildProcess; health: number; admin: number }> {
    const nodes = (await freePort(1)) + 1; // the port before it is that of the simulator's control
    const [health, admin] = [await freePort(), await freePort()];
    start(program, "demo", "cluster", "--nodes", "1", "--port", `${nodes}`);
    const file = join(scratch, "served.yaml");
    writeFileSync(
      file,
      `workers: 2\nclusters: [{ name: demo, nodes: [{ name: pg1, api: "http://127.0.0.1:${nodes}" }] }]\n` +
        `listen: [{ port: ${health} }, { port: ${admin}, dialect: admin }]\n`,
    );
    const serving = start(program, "serve", "--config", file);
    await until({ what: "a yes for the primary", seconds: 60 }, async () => {
      const answer = await fetch(`http://127.0.0.1:${health}/nodes/pg1/primary`).catch(() => null);
      return answer?.status === 200;
    });
    await workersAnswer(`http://127.0.0.1:${admin}`, 2);
    return { serving, health, admin };
  }

  test("are the same, byte for byte, when they are made again", () => {
    const [otherExecutable, otherPackage] = [join(scratch, "again"), join(scratch, "again.deb")];
    build("executable.mjs", node24 ?? "", otherExecutable);
    assert.equal(digestOf(otherExecutable), digestOf(executable));
    build("deb.mjs", otherExecutable, otherPackage);
    assert.equal(digestOf(otherPackage), digestOf(packageFile));
  });

  test("the executable uses its code cache, and reads its files from itself", () => {
    const { status, stdout, stderr } = spawnSync(executable, ["version"], { cwd: scratch, env: {}, encoding: "utf8" });
    const { version }: { version: string } = JSON.parse(readFileSync("package.json", "utf8"));
    const commit = readFileSync("dist/commit.txt", "utf8").trim();
    assert.deepEqual([status, stdout, stderr], [0, `rolecall ${version} (commit ${commit})\n`, ""]);
  });

  test("every command of the executable works while a node is dead", { timeout: 240_000 }, async () => {
    await assertWorks({ command: [executable], env: {}, hasDocuments: false });
  });

  test(
    "the executable serves with two workers, the fast path and the page, and ends with 0",
    { timeout: 120_000 },
    async () => {
      const { serving, health, admin } = await serve(executable);
      let stderr = "";
      serving.stderr?.on("data", (text: Buffer) => (stderr += text.toString()));
      await until("a check on the fast path of a worker", async () => {
        execFileSync("curl", ["--silent", `http://127.0.0.1:${health}/nodes/pg1/primary`]);
        const metrics = await (await fetch(`http://127.0.0.1:${admin}/metrics`)).text();
        assert.match(metrics, /^rolecall_workers 2$/m);
        return /^rolecall_fast_path_requests_total [1-9]/m.test(metrics);
      });
      const page = await fetch(`http://127.0.0.1:${admin}/`, { headers: { accept: "text/html" } });
      assert.match(await page.text(), /<script/);
      for (const file of ["app.js", "core.js", "vendor/preact.js"])
        assert.equal((await fetch(`http://127.0.0.1:${admin}/page/${file}`)).status, 200, file);
      const ended = once(serving, "exit");
      serving.kill("SIGINT");
      assert.deepEqual((await ended)[0], 0);
      // From the worker too: it shares stderr.
      assert.match(stderr, /worker started/);
      assert.doesNotMatch(stderr, /rejected/);
    },
  );

  test(
    "the package installs into a bare root, works, keeps a changed configuration, and is purged",
    { timeout: 240_000 },
    async () => {
      const root = join(scratch, "root");
      const dpkg = (...args: readonly string[]): void =>
        void execFileSync("dpkg", [`--root=${root}`, "--force-script-chrootless", "--force-depends", ...args], {
          stdio: "pipe",
        });
      for (const folder of ["info", "updates", "triggers"])
        mkdirSync(join(root, "var/lib/dpkg", folder), { recursive: true });
      mkdirSync(join(root, "etc"));
      for (const file of ["passwd", "group"]) copyFileSync(`/etc/${file}`, join(root, "etc", file));
      writeFileSync(join(root, "var/lib/dpkg/status"), "");
      dpkg("--install", packageFile);
      const configuration = join(root, "etc/rolecall/rolecall.yaml");
      assert.match(readFileSync(join(root, "etc/passwd"), "utf8"), /^rolecall:/m);
      assert.ok(existsSync(join(root, "var/lib/rolecall")));
      execFileSync(join(root, "usr/bin/rolecall"), ["doctor", "--offline", configuration], { stdio: "pipe" });
      const unit = readFileSync(join(root, "usr/lib/systemd/system/rolecall.service"), "utf8");
      assert.match(unit, /^ExecStart=\/usr\/bin\/rolecall serve --config \/etc\/rolecall\/rolecall.yaml$/m);
      const { serving } = await serve(join(root, "usr/bin/rolecall"));
      serving.kill("SIGINT");
      await once(serving, "exit");
      await assertWorks({ command: [join(root, "usr/bin/rolecall")], env: {}, hasDocuments: false });

      writeFileSync(configuration, `${readFileSync(configuration, "utf8")}drain: 1s\n`);
      dpkg("--force-confold", "--install", packageFile);
      assert.match(readFileSync(configuration, "utf8"), /drain: 1s/);
      dpkg("--remove", "rolecall");
      assert.ok(existsSync(configuration));
      assert.ok(!existsSync(join(root, "usr/bin/rolecall")));
      dpkg("--purge", "rolecall");
      for (const folder of ["etc/rolecall", "var/lib/rolecall", "usr"])
        assert.ok(!existsSync(join(root, folder)), folder);
    },
  );
});

function digestOf(file: string): string {
  return createHash("sha256").update(readFileSync(file)).digest("hex");
}
