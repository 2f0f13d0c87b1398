import assert from "node:assert/strict";
import { test } from "node:test";
import { nextStep, type Life, type LifeAction, type LifeEvent } from "../../src/app/life.ts";
import { Reloader, type ReloadEnd, type ReloaderContext } from "../../src/app/reloader.ts";
import { configOf } from "../fake/config.ts";
import { silentLogger } from "../fake/silent-logger.ts";

const config = configOf({ clusters: [] });

/** A reloader whose `apply` ends when a test calls one of `ends`, and the outcomes that it reported. */
function reloaderOf(context: Partial<ReloaderContext> = {}): {
  readonly reloader: Reloader;
  readonly ends: ((error?: Error) => void)[];
  readonly outcomes: string[];
  readonly advance: (event: LifeEvent) => LifeAction;
} {
  const ends: ((error?: Error) => void)[] = [];
  const outcomes: string[] = [];
  let life: Life = { kind: "serving" };
  const advance = (event: LifeEvent): LifeAction => {
    const next = nextStep(life, event);
    life = next.life;
    return next.action;
  };
  const reloader = new Reloader({
    log: silentLogger,
    source: { file: null, load: () => ({ ok: true, config, simulator: null, hasNoStateKey: true, warnings: [] }) },
    apply: () =>
      new Promise((resolve, reject) => {
        ends.push((error) => (error === undefined ? resolve() : reject(error)));
      }),
    onReload: ({ kind }) => outcomes.push(kind),
    wall: () => 0,
    advance,
    ...context,
  });
  return { reloader, ends, outcomes, advance };
}

test("runs reloads one after the other, and shares one that has not begun", async () => {
  const { reloader, ends, outcomes } = reloaderOf();
  const first = reloader.reload();
  const [second, third] = [reloader.reload(), reloader.reload()];
  assert.equal(ends.length, 1);
  assert.equal(second, third);
  ends[0]?.(new Error("no"));
  assert.equal(await first, "no");
  await Promise.resolve();
  assert.equal(ends.length, 2);
  ends[1]?.();
  assert.deepEqual([await second, await third], [null, null]);
  const fourth = reloader.reload();
  assert.equal(ends.length, 3);
  ends[2]?.();
  assert.equal(await fourth, null);
  assert.deepEqual(outcomes, ["refused", "applied", "applied"]);
});

test("refuses a configuration with problems without applying it", async () => {
  const problem = {
    file: null,
    line: null,
    path: "listen[0].port",
    where: "listen[0].port",
    message: "must be a port",
    found: "x",
    allowed: "a port",
  };
  const { reloader, ends, outcomes } = reloaderOf({
    source: { file: null, load: () => ({ ok: false, problems: [problem], warnings: [] }) },
  });
  assert.equal(await reloader.reload(), "listen[0].port: must be a port");
  assert.deepEqual([ends.length, outcomes], [0, ["refused"]]);
});

test("describes the configuration in force, and the one that was refused until one is applied", async () => {
  let [nowMs, isValid] = [60_000, false];
  const ended: ReloadEnd[] = [];
  const problem = {
    file: null,
    line: null,
    path: "x",
    where: "x",
    message: "must be\u001b[1m y",
    found: "",
    allowed: "",
  };
  const { reloader } = reloaderOf({
    wall: () => nowMs,
    source: {
      file: "/etc/rolecall.yaml",
      load: () =>
        isValid
          ? { ok: true, config, simulator: null, hasNoStateKey: true, warnings: [] }
          : { ok: false, problems: [problem, problem], warnings: [] },
    },
    apply: () => Promise.resolve(),
    onReload: (end) => ended.push(end),
  });
  const inForce = { file: "/etc/rolecall.yaml", loaded_at: "1970-01-01T00:01:00.000Z", refused: null };
  assert.deepEqual(reloader.describe(), inForce);
  nowMs = 90_000;
  await reloader.reload();
  nowMs = 120_000;
  await reloader.reload();
  const refused = { at: "1970-01-01T00:02:00.000Z", problems: 2, first: "x: must be?[1m y" };
  assert.deepEqual(reloader.describe(), { ...inForce, refused });
  [nowMs, isValid] = [150_000, true];
  await reloader.reload();
  assert.deepEqual(reloader.describe(), { ...inForce, loaded_at: "1970-01-01T00:02:30.000Z" });
  assert.deepEqual(
    ended.map((end) => [end.kind, end.kind === "applied" ? end.refusedForMs : null]),
    [
      ["refused", null],
      ["refused", null],
      ["applied", 60_000],
    ],
  );
});

test("says that reload is not configured if there is nothing to load", async () => {
  const { reloader, outcomes } = reloaderOf({ source: null });
  assert.equal(await reloader.reload(), "reload is not configured");
  assert.deepEqual(outcomes, []);
});

test("a reload requested as another ends follows the one that waits, and never runs beside it", async () => {
  const { reloader, ends } = reloaderOf();
  const first = reloader.reload();
  const again = first.then(() => reloader.reload());
  const waiting = reloader.reload();
  ends[0]?.();
  await first;
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(ends.length, 2);
  ends[1]?.();
  assert.equal(await waiting, null);
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(ends.length, 3);
  ends[2]?.();
  assert.equal(await again, null);
});

test("a configuration that cannot even be loaded is refused, and the next reload runs", async () => {
  const { reloader, outcomes } = reloaderOf({
    source: {
      file: null,
      load: () => {
        throw new Error("no memory");
      },
    },
  });
  assert.deepEqual(await Promise.all([reloader.reload(), reloader.reload()]), ["no memory", "no memory"]);
  assert.equal(await reloader.reload(), "no memory");
  assert.deepEqual(outcomes, ["refused", "refused", "refused"]);
});

test("once the process stops, refuses new reloads and the one that waits, and begins nothing", async () => {
  const { reloader, ends, advance } = reloaderOf();
  const running = reloader.reload();
  const waiting = reloader.reload();
  assert.equal(advance("drain_requested"), "drain");
  reloader.close();
  assert.equal(await waiting, "rolecall is stopping");
  assert.equal(await reloader.reload(), "rolecall is stopping");
  ends[0]?.();
  assert.equal(await running, null);
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(ends.length, 1);
});

test("a reload warns of each removed key, twenty at most, and of how many more there are", async () => {
  const warned: (readonly [object, string])[] = [];
  const log: typeof silentLogger = Object.assign(Object.create(silentLogger), {
    warn: (fields: object, text: string) => void warned.push([fields, text]),
  });
  const warnings = Array.from({ length: 22 }, (_, at) => ({
    file: "rolecall.yaml",
    line: at + 1,
    path: `listen[${at}].limits.body`,
    where: `rolecall.yaml:${at + 1} listen[${at}].limits.body`,
    message: "was removed",
    found: "",
    allowed: "",
  }));
  const { reloader } = reloaderOf({
    log,
    source: { file: null, load: () => ({ ok: true, config, simulator: null, hasNoStateKey: true, warnings }) },
    apply: () => Promise.resolve(),
  });
  assert.equal(await reloader.reload(), null);
  assert.equal(warned.length, 21);
  const problem = "rolecall.yaml:1 listen[0].limits.body: was removed";
  assert.deepEqual(warned[0], [{ rule: "RC021", key: "listen[0].limits.body", problem }, "removed key"]);
  assert.deepEqual(warned.at(-1), [{ rule: "RC021", more: 2 }, "more removed keys: rolecall doctor lists them"]);
});
