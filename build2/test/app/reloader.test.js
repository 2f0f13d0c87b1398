import assert from "node:assert/strict";
import { test } from "node:test";
import { Reloader } from "../../src/app/reloader.js";
import { configOf } from "../fake/config.js";
import { silentLogger } from "../fake/silent-logger.js";
const config = configOf({ clusters: [] });
/** A reloader whose `apply` ends when a test calls one of `ends`, and the outcomes that it reported. */
function reloaderOf(context = {}) {
    const ends = [];
    const outcomes = [];
    const reloader = new Reloader({
        log: silentLogger,
        source: { file: null, load: () => ({ ok: true, config, simulator: null }) },
        apply: () => new Promise((resolve, reject) => {
            ends.push((error) => (error === undefined ? resolve() : reject(error)));
        }),
        onReload: (outcome) => outcomes.push(outcome),
        ...context,
    });
    return { reloader, ends, outcomes };
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
        source: { file: null, load: () => ({ ok: false, problems: [problem] }) },
    });
    assert.equal(await reloader.reload(), "listen[0].port: must be a port");
    assert.deepEqual([ends.length, outcomes], [0, ["refused"]]);
});
test("says that reload is not configured if there is nothing to load", async () => {
    const { reloader, outcomes } = reloaderOf({ source: null });
    assert.equal(await reloader.reload(), "reload is not configured");
    assert.deepEqual(outcomes, []);
});
test("a reload requested as another ends shares the one that waits, and never runs beside it", async () => {
    const { reloader, ends } = reloaderOf();
    const first = reloader.reload();
    const again = first.then(() => reloader.reload());
    const waiting = reloader.reload();
    ends[0]?.();
    await first;
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(ends.length, 2);
    ends[1]?.();
    assert.deepEqual([await again, await waiting], [null, null]);
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
//# sourceMappingURL=reloader.test.js.map