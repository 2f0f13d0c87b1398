import assert from "node:assert/strict";
import { test } from "node:test";

interface Followed {
  readonly read: () => Promise<object>;
  readonly onRun: (run: object) => void;
  readonly isOver: () => boolean;
  readonly wait: () => Promise<void>;
  readonly now: () => number;
}

/** The page is plain JavaScript, which the compiler does not read. */
const { followRun } = (await import(
  new URL("../../../../src/features/page/web/actions/seamless.js", import.meta.url).href
)) as {
  readonly followRun: (parts: Followed) => Promise<object | null>;
};

const lost = /The end of the switchover is not known: rolecall does not answer/;

/** Follows a run whose readings have these results, one a second. `number`: the status of an error; `null`: no answer. */
async function follow(
  results: readonly (object | number | null)[],
  isOver: (reads: number) => boolean = () => false,
): Promise<{ readonly end: unknown; readonly shown: number; readonly reads: number }> {
  let [reads, shown] = [0, 0];
  const read = async (): Promise<object> => {
    const result = results[Math.min(reads, results.length - 1)] ?? null;
    reads += 1;
    if (result === null) throw new TypeError("fetch failed");
    if (typeof result === "number") throw Object.assign(new Error(`status ${result}`), { status: result });
    return result;
  };
  const end = await followRun({
    read,
    onRun: () => {
      shown += 1;
    },
    isOver: () => isOver(reads),
    wait: async () => {},
    now: () => reads * 1_000,
  }).catch((error: unknown) => String(error));
  return { end, shown, reads };
}

const held = { state: "switching", deadline_in_ms: 8_000 };
const ended = { state: "ended", deadline_in_ms: null };

test("a run is followed to its end, although some requests fail", async () => {
  assert.deepEqual(await follow([held, null, 503, 429, held, ended]), { end: ended, shown: 3, reads: 6 });
});

test("a run that the server does not know, or does not show, is not followed", async () => {
  for (const status of [404, 401, 400]) {
    const { end, reads } = await follow([held, status]);
    assert.deepEqual([end, reads], [`Error: status ${status}`, 2]);
  }
});

test("a server that is silent is asked until its deadline is over", async () => {
  const { end, shown, reads } = await follow([held, null]);
  assert.ok(typeof end === "string" && lost.test(end));
  // The first answer came after 1 s: 8 s until the deadline, and 5 s.
  assert.deepEqual([shown, reads], [1, 15]);
});

test("a server that never answers is asked for 5 s", async () => {
  const { end, reads } = await follow([503]);
  assert.ok(typeof end === "string" && lost.test(end));
  assert.equal(reads, 6);
});

test("nothing is shown once nobody is interested", async () => {
  assert.deepEqual(await follow([held], (reads) => reads > 2), { end: null, shown: 2, reads: 3 });
});
