import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { describe, it } from "node:test";
import { resolve } from "node:path";

const program = resolve("dist", "main.js");

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

function start(...flags: readonly string[]): { child: ChildProcess; ended: Promise<Ended>; ready: Promise<string> } {
  const child = spawn(process.execPath, [program, "demo", "cluster", ...flags], { stdio: ["ignore", "pipe", "pipe"] });
  let [out, err] = ["", ""];
  const ready = new Promise<string>((done) => {
    child.stdout.on("data", (chunk: Buffer) => {
      out += chunk.toString();
      if (out.includes("Ctrl-C")) done(out);
    });
  });
  child.stderr.on("data", (chunk: Buffer) => (err += chunk.toString()));
  const ended = once(child, "close").then(([code]) => ({ code: code as number | null, out, err }));
  return { child, ended, ready };
}

describe("rolecall demo cluster", () => {
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    it(`serves the nodes of its banner until ${signal}, then exits with 0`, { timeout: 20_000 }, async () => {
      const { child, ended, ready } = start(
        "--port",
        "0",
        "--nodes",
        "2",
        "--scope",
        "shop",
        "--vocabulary",
        "neutral",
        "--synchronous",
        "on",
      );
      const banner = await ready;
      const [, url = ""] = /pg2 +(http:\S+)/.exec(banner) ?? [];
      assert.match(banner, /^ {2}curl -X POST http:\S+\/sim\/heal$/m);
      const document = (await (await fetch(`${url}/ha`)).json()) as Record<string, unknown>;
      assert.deepEqual(document["ha"], { version: "4.1.4", scope: "shop", name: "pg2" });
      assert.equal(document["sync_standby"], true);
      child.kill(signal);
      assert.deepEqual(await ended, { code: 0, out: banner, err: "" });
    });
  }

  for (const [flags, expected] of [
    [["--nodes", "none"], /--nodes must be a number, got "none"/],
    [["--nodes", "0"], /nodes must be .* from 1 to 1000.* 0/],
    [["--vocabulary", "greek"], /--vocabulary must be one of patroni, neutral, got "greek"/],
    [["--ttl", "10", "--loop-wait", "9"], /loop_wait must be/],
    [["--ttl", "10s", "--loop-wait", "9000ms"], /loop_wait must be/],
    [["--ttl", "soon"], /--ttl must be a duration such as 500ms or 30s, got "soon"/],
    [["--wal-rate", "fast"], /--wal-rate must be a size such as 256kB or 1MB, got "fast"/],
    [["--colour"], /Unknown option '--colour'/],
    [["--host", "256.256.256.256"], /256\.256\.256\.256/],
  ] as const) {
    it(`exits with 2 and says why with ${flags.join(" ")}`, { timeout: 20_000 }, async () => {
      const { code, out, err } = await start("--port", "0", ...flags).ended;
      assert.deepEqual([code, out], [2, ""]);
      assert.match(err, expected);
    });
  }

  it("exits with 2 and suggests another port if the port is in use", { timeout: 20_000 }, async () => {
    const first = start("--port", "0", "--nodes", "1");
    const [, port = ""] = /pg1 +http:\/\/127\.0\.0\.1:(\d+)/.exec(await first.ready) ?? [];
    const { code, err } = await start("--port", port, "--nodes", "1").ended;
    first.child.kill("SIGTERM");
    await first.ended;
    assert.equal(code, 2);
    assert.match(err, /EADDRINUSE.*--port/);
  });

  it("writes its options and exits with 0 with --help", { timeout: 20_000 }, async () => {
    const { code, out } = await start("--help").ended;
    assert.equal(code, 0);
    assert.match(out, /--keep-alive/);
  });
});
