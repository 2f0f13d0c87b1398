import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { suite, test } from "node:test";
import type { FastPathMode } from "../../../../src/core/config/model/config.ts";
import { FastPathControl } from "../../../../src/core/http/fast-path/fast-path-control.ts";
import { findNodeInternals, type NodeInternals } from "../../../../src/core/http/fast-path/node-internals.ts";
import { selfTest } from "../../../../src/core/http/fast-path/self-test.ts";
import { TcpIo, type WriteResult } from "../../../../src/core/http/fast-path/tcp-io.ts";
import { isTriedVersion, triedVersions } from "../../../../src/core/http/fast-path/tried-versions.ts";
import { sumFastPathCounts, noFastPathCounts } from "../../../../src/core/http/message/fast-path-counts.ts";

function internals(): NodeInternals {
  const found = findNodeInternals();
  if ("problem" in found) throw new Error(found.problem);
  return found;
}

async function selfTestOf(
  mode: FastPathMode,
  version?: string,
): Promise<{ isOn: boolean; reasons: readonly string[] }> {
  const reasons: string[] = [];
  const control = new FastPathControl({ mode: () => mode, onDisabled: (reason) => reasons.push(reason) }, version);
  const results = await Promise.all([control.runSelfTest(), control.runSelfTest()]);
  return { isOn: results.every((io) => io !== null), reasons };
}

suite("whether the fast path is used", () => {
  test("it passes the self-test on this Node", async () => {
    assert.deepEqual(await selfTestOf("force"), { isOn: true, reasons: [] });
  });

  test("it is off without a reason if the configuration says so", async () => {
    assert.deepEqual(await selfTestOf(false), { isOn: false, reasons: [] });
  });

  test("it is off on a Node version that it was not tried on, unless it is forced", async () => {
    const { isOn, reasons } = await selfTestOf(true, "21.7.3");
    assert.equal(isOn, false);
    assert.deepEqual(reasons, [
      `it was tried on Node ${triedVersions}, not on 21.7.3 (fast_path: force uses it nevertheless)`,
    ]);
    assert.deepEqual(await selfTestOf("force", "21.7.3"), { isOn: true, reasons: [] });
    assert.deepEqual(await selfTestOf(true, "20.18.1"), { isOn: true, reasons: [] });
  });

  test("of a tried major version, later minor versions are left to the self-test", () => {
    const rows = ["20.17.9", "20.18.0", "20.20.2", "20.21.0", "21.0.0", "24.99.0", "nonsense", ""];
    assert.deepEqual(rows.filter(isTriedVersion), ["20.18.0", "20.20.2", "20.21.0", "24.99.0"]);
  });
});

/** A TcpIo that fails in one way. */
class FaultyIo extends TcpIo {
  readonly #fault: Partial<Pick<TcpIo, "write" | "bytesRead">>;

  constructor(fault: Partial<Pick<TcpIo, "write" | "bytesRead">>) {
    super(internals());
    this.#fault = fault;
  }

  override bytesRead(): number {
    return this.#fault.bytesRead?.() ?? super.bytesRead();
  }

  override write(...args: Parameters<TcpIo["write"]>): WriteResult {
    return this.#fault.write === undefined ? super.write(...args) : this.#fault.write(...args);
  }
}

suite("the self-test finds", () => {
  test("nothing on this Node", async () => assert.equal(await selfTest(new TcpIo(internals())), null));

  test("responses that differ from those of node:http", async () => {
    const io = new FaultyIo({
      write: (handle, bytes, onWritten) =>
        new TcpIo(internals()).write(handle, Buffer.from(bytes.subarray(1)), onWritten),
    });
    assert.match((await selfTest(io)) ?? "", /^a response is "TTP.* instead of "HTTP/);
  });

  test("writes that fail", async () => {
    const io = new FaultyIo({ write: () => "lost" });
    assert.match((await selfTest(io)) ?? "", /^a response is "" instead of "HTTP/);
  });

  test("reads whose length is not as expected", async () => {
    const io = new FaultyIo({ bytesRead: () => 100_000 });
    assert.notEqual(await selfTest(io), null);
  });

  test("an error in a read", async () => {
    const io = new FaultyIo({
      bytesRead: () => {
        throw new Error("planted");
      },
    });
    assert.notEqual(await selfTest(io), null);
  });

  test("requests that are not answered on the fast path", async () => {
    // Every write waits, so every connection falls back at its first answer.
    const real = new TcpIo(internals());
    const io = new FaultyIo({ write: (...args) => (real.write(...args) === "lost" ? "lost" : "waiting") });
    assert.match((await selfTest(io)) ?? "", /^it answered \d+ requests and fell back/);
  });
});

test("counts of several processes add up", () => {
  const one = { requests: 2, fallbacks: { not_cached: 1, too_long: 2, slow_reader: 3, tripped: 4 }, trips: 1 };
  const sum = sumFastPathCounts([one, one, noFastPathCounts]);
  assert.deepEqual(sum, {
    requests: 4,
    fallbacks: { not_cached: 2, too_long: 4, slow_reader: 6, tripped: 8 },
    trips: 2,
  });
});

test("only src/core/http/fast-path uses undocumented parts of Node", () => {
  const undocumented =
    /process\.binding|"binding"|_handle\b|onconnection|getsockname|internalBinding|_getActiveHandles/;
  const files = readdirSync("src", { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"));
  const users = files.filter((file) => undocumented.test(readFileSync(`src/${file}`, "utf8")));
  assert.ok(users.length > 0);
  for (const file of users) assert.match(file.replaceAll("\\", "/"), /^core\/http\/fast-path\//);
});
