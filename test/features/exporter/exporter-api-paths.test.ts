import assert from "node:assert/strict";
import { test } from "node:test";
import { exporterPageOf, isReload } from "../../../src/features/exporter/exporter-api-paths.ts";

test("only the telemetry path, /stat and /explain are pages", () => {
  assert.equal(exporterPageOf("/metrics?collect=x", "/metrics")?.shows, "metrics");
  assert.equal(exporterPageOf("/prom", "/prom")?.shows, "metrics");
  assert.equal(exporterPageOf("/metrics", "/prom"), null);
  assert.equal(exporterPageOf("/stat", "/metrics")?.shows, "stat");
  assert.equal(exporterPageOf("/explain", "/metrics")?.shows, "explain");
  assert.equal(exporterPageOf("/explain/", "/metrics"), null);
  assert.equal(exporterPageOf("/%zz", "/metrics"), null);
});

test("/reload reloads in every spelling that the router reads as it, but not as the telemetry path", () => {
  for (const target of ["/reload", "/reload?x", "/%72eload", "http://any/reload"])
    assert.equal(isReload(target, "/metrics"), true, target);
  for (const target of ["/reload/", "/Reload", "/metrics", "/%zz"]) assert.equal(isReload(target, "/metrics"), false);
  assert.equal(isReload("/reload", "/reload"), false);
});
