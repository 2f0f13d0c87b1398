import assert from "node:assert/strict";
import { test } from "node:test";
import { Registry } from "prom-client";
import { mirrorCounter } from "../../src/metrics/mirrored-counter.js";
test("shows the current values at each scrape, adds up equal labels, and never decreases", async () => {
    const registry = new Registry();
    let readings = [];
    const options = { name: "answers_total", help: "Answers.", labelNames: ["route"], registers: [registry] };
    mirrorCounter(options, () => readings);
    const scrape = async () => (await registry.metrics()).split("\n").filter((line) => line.startsWith("answers_total"));
    assert.deepEqual(await scrape(), []);
    readings = [
        { labels: { route: "primary" }, value: 2 },
        { labels: { route: "replica" }, value: 1 },
        { labels: { route: "primary" }, value: 3 },
    ];
    assert.deepEqual(await scrape(), ['answers_total{route="primary"} 5', 'answers_total{route="replica"} 1']);
    assert.deepEqual(await scrape(), ['answers_total{route="primary"} 5', 'answers_total{route="replica"} 1']);
    readings = [{ labels: { route: "primary" }, value: 4 }];
    assert.deepEqual(await scrape(), ['answers_total{route="primary"} 5', 'answers_total{route="replica"} 1']);
    readings = [{ labels: { route: "primary" }, value: 6 }];
    assert.deepEqual(await scrape(), ['answers_total{route="primary"} 6', 'answers_total{route="replica"} 1']);
});
//# sourceMappingURL=mirrored-counter.test.js.map