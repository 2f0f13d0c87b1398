import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";
import { kindsOf } from "../run/scenario.ts";
import { type Ttl, ttls } from "../profile.ts";
import { modes, modesOf } from "../world/mode.ts";
import { commandOf, faultsOf, planOf, type RunId, ownerLives } from "./plan.ts";
import { shrink } from "./shrink.ts";
import { Simulation, type RunResult } from "./simulation.ts";
import { Trace } from "./trace.ts";
import { VirtualTime } from "./virtual-time.ts";

const short: RunId = { seed: 2, part: 0, seconds: 60, kept: null, modes, ttls: [12] };

async function run(id: RunId, trace: Trace | null = null, kinds: string | null = null): Promise<RunResult> {
  return new Simulation(planOf(id, kindsOf(kinds, true)), { armed: new Map(), injected: new Map(), trace }).run();
}

describe("virtual time", () => {
  test("runs events in order, and follows promises to their end before the next one", async () => {
    const time = new VirtualTime();
    const seen: string[] = [];
    time.after("delivery", 20, () => void seen.push(`late ${time.nowMs}`));
    time.after("delivery", 10, () => {
      void Promise.resolve()
        .then(() => undefined)
        .then(() => seen.push(`promise ${time.nowMs}`));
    });
    time.after("world", 10, () => void seen.push(`same instant ${time.nowMs}`));
    time.after("timer", 5, () => void seen.push("cancelled")).run = null;
    await time.run(15);
    assert.deepEqual(seen, ["promise 10", "same instant 10"]);
    await time.run(30);
    assert.equal(seen.at(-1), "late 20");
    assert.equal(time.nowMs, 30);
  });

  test("a frozen process finds what was due when it goes on", async () => {
    const time = new VirtualTime();
    const seen: string[] = [];
    time.after("timer", 10, () => void seen.push(`timer ${time.nowMs}`));
    time.after("world", 10, () => void seen.push(`world ${time.nowMs}`));
    time.freeze(100);
    await time.run(200);
    assert.deepEqual(seen, ["world 10", "timer 100"]);
    assert.equal(time.monotonicMs, 200);
  });

  test("a suspended machine counts neither the time nor its timers", async () => {
    const time = new VirtualTime();
    const seen: string[] = [];
    time.after("timer", 50, () => void seen.push(`timer ${time.nowMs}`));
    time.after("delivery", 50, () => void seen.push(`delivery ${time.nowMs}`));
    time.suspend(100);
    await time.run(300);
    assert.deepEqual(seen, ["delivery 100", "timer 150"]);
    assert.equal(time.monotonicMs, 200);
  });

  test("overlapping suspends count their time once", async () => {
    const time = new VirtualTime();
    const seen: string[] = [];
    time.after("timer", 50, () => void seen.push(`timer ${time.nowMs} ${time.monotonicMs}`));
    time.after("world", 60, () => time.suspend(70));
    time.after("world", 80, () => time.suspend(10));
    time.suspend(100);
    await time.run(300);
    assert.deepEqual(seen, ["timer 180 50"]);
    assert.equal(time.monotonicMs, 170);
  });

  test("advances by every delay above 0, also by one that its precision would lose", async () => {
    const time = new VirtualTime();
    const startMs = 32_672.9;
    await time.run(startMs);
    let firedMs = 0;
    time.after("timer", 1e-12, () => (firedMs = time.nowMs));
    await time.run(startMs + 1);
    assert.ok(firedMs > startMs);
  });

  test("ends with an error if events at one instant do not end", async () => {
    const time = new VirtualTime();
    const again = (): void => void time.after("timer", 0, again);
    again();
    await assert.rejects(time.run(10), /Events at 0 ms do not end/);
  });

  test("reports what an event throws", async () => {
    const time = new VirtualTime();
    time.after("world", 1, () => {
      throw new Error("broken");
    });
    await assert.rejects(time.run(10), /broken/);
  });
});

describe("a simulated run", () => {
  test("gives the same bytes of trace for a seed, and others for another", async () => {
    const digestOf = async (seed: number): Promise<string> => {
      const trace = new Trace(null);
      await run({ ...short, seed, seconds: 40 }, trace);
      assert.ok(trace.lines > 100);
      return trace.digest();
    };
    const first = await digestOf(2);
    assert.equal(await digestOf(2), first);
    assert.notEqual(await digestOf(3), first);
  });

  test("lasts at least as long as it should, although the cluster has recovered before", async () => {
    const { violations, simulatedMs, recoveredMs } = await run(short);
    assert.deepEqual(violations, []);
    assert.equal(recoveredMs.length, 1);
    assert.ok(simulatedMs >= 60_000, `it ended after ${simulatedMs} ms`);
  });

  test("gives the same bytes over restarts of rolecall, which keep what it has saved", async () => {
    const digestOf = async (): Promise<string> => {
      const trace = new Trace(null);
      const { violations } = await run({ ...short, seed: 312_055, kept: new Set([1, 3]) }, trace);
      assert.deepEqual(violations, []);
      return trace.digest();
    };
    assert.equal(await digestOf(), await digestOf());
  });

  const other = process.env["OTHER_NODE"];
  test("gives the same bytes on another version of Node", { skip: other === undefined }, () => {
    const main = fileURLToPath(new URL("../main.js", import.meta.url));
    const hashes = (node: string): readonly string[] =>
      execFileSync(node, [main, "--seeds", "1..6", "--hash"], { encoding: "utf8" })
        .split("\n")
        .filter((line) => line.includes("sha256"));
    const own = hashes(process.execPath);
    assert.equal(own.length, 6);
    assert.deepEqual(hashes(other ?? ""), own);
  });

  type PastSeed = Omit<RunId, "kept" | "modes" | "ttls"> & {
    readonly kinds: string | null;
    readonly modes: string | null;
    /** In seconds; 12 without it. */
    readonly ttl?: Ttl;
    readonly keep: readonly number[] | null;
    readonly found: string;
  };
  for (const { kinds, modes: drawn, ttl = 12, keep, found, ...id } of parse(
    readFileSync("test/spec/campaign/seeds.yaml", "utf8"),
  ) as PastSeed[])
    test(`no longer finds: ${found}`, async () => {
      const kept = keep === null ? null : new Set(keep);
      const { violations } = await run({ ...id, kept, modes: modesOf(drawn), ttls: [ttl] }, null, kinds);
      assert.deepEqual(violations, []);
    });
});

describe("shrinking", () => {
  test("leaves the faults that a violation needs, and prints the command that repeats it", async () => {
    const id: RunId = { seed: 5, part: 0, seconds: 600, kept: null, modes, ttls };
    const all = faultsOf(planOf(id)).map(({ number }) => number);
    const needed = [all[3], all[all.length - 1]];
    const shrunk = await shrink(id, "one-primary", async ({ kept }) => {
      const isBroken = needed.every((number) => number !== undefined && kept?.has(number) === true);
      return new Set(isBroken ? ["one-primary"] : ["recovery"]);
    });
    assert.deepEqual([...(shrunk.kept ?? [])], needed);
    assert.equal(commandOf(shrunk), `npm run campaign -- --seed 5 --seconds 600 --keep ${needed.join()}`);
  });
});

describe("a rolecall that follows another one", () => {
  for (const follows of ownerLives)
    test(`keeps its promises: ${follows}`, async () => {
      for (let seed = 1; seed <= 8; seed += 1) {
        const { violations, answers } = await run({ ...short, seed, ttls, follows });
        assert.deepEqual(violations, [], `seed ${seed}`);
        assert.ok(answers > 20, `${answers} answers of seed ${seed}`);
      }
    });

  test("no longer finds: what the DCS said while no stream was open was never heard", async () => {
    assert.deepEqual((await run({ ...short, seed: 1260, ttls, follows: "rough" })).violations, []);
  });

  test("is repeated by the command that is printed", async () => {
    const id: RunId = { ...short, follows: "rough" };
    assert.match(commandOf(id), /--follows rough/);
    const traces = [new Trace(null), new Trace(null)];
    for (const trace of traces) await run(id, trace);
    assert.equal(traces[0]?.digest(), traces[1]?.digest());
  });
});
