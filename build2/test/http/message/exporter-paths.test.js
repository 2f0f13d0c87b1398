import assert from "node:assert/strict";
import { test } from "node:test";
import { exporterPageOf, isReload, pathOf, rolePaths } from "../../../src/http/message/exporter-paths.js";
test("the exporter API has five paths for each role", () => {
    const counts = new Map();
    for (const role of rolePaths.values())
        counts.set(role, (counts.get(role) ?? 0) + 1);
    assert.deepEqual(Object.fromEntries(counts), { up: 5, primary: 5, replica: 5 });
});
const paths = [
    ["/up", "/up"],
    ["/up?x=/reload", "/up"],
    ["/up#x", "/up"],
    ["/up/", "/up/"],
    ["", "/"],
    ["?x", "/"],
    ["http://any:9630/metrics", "/metrics"],
    ["http://any:9630", "/"],
    ["/%6Detrics", "/metrics"],
    ["/%zz", null],
];
for (const [target, path] of paths) {
    test(`the path of the target "${target}" is ${path}`, () => assert.equal(pathOf(target), path));
}
test("only the telemetry path, /stat and /explain are pages", () => {
    assert.equal(exporterPageOf("/metrics?collect=x", "/metrics"), "metrics");
    assert.equal(exporterPageOf("/prom", "/prom"), "metrics");
    assert.equal(exporterPageOf("/metrics", "/prom"), null);
    assert.equal(exporterPageOf("/stat", "/metrics"), "stat");
    assert.equal(exporterPageOf("/explain", "/metrics"), "explain");
    assert.equal(exporterPageOf("/explain/", "/metrics"), null);
    assert.equal(exporterPageOf("/%zz", "/metrics"), null);
});
test("/reload reloads in every spelling that the router reads as it, but not as the telemetry path", () => {
    for (const target of ["/reload", "/reload?x", "/%72eload", "http://any/reload"])
        assert.equal(isReload(target, "/metrics"), true, target);
    for (const target of ["/reload/", "/Reload", "/metrics", "/%zz"])
        assert.equal(isReload(target, "/metrics"), false);
    assert.equal(isReload("/reload", "/reload"), false);
});
//# sourceMappingURL=exporter-paths.test.js.map