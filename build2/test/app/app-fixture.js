import assert from "node:assert/strict";
import { App } from "../../src/app/app.js";
import { clusterOf, listenerOf, nodeOf } from "../fake/config.js";
import { silentLogger } from "../fake/silent-logger.js";
/** A listener that answers for the whole cluster. */
export const whole = listenerOf({ wholeCluster: true });
/** The time limit of a test. */
export const limit = { timeout: 20_000 };
/** A cluster with these nodes as fixed nodes. */
export function fixedCluster(nodes, parts = {}) {
    return clusterOf({ nodes: nodes.map(({ name, api }) => nodeOf({ name, api })), ...parts });
}
/** An App that stops when the test ends. */
export function appOf(context, config, { log = silentLogger, ...options } = {}) {
    const app = new App(config, log, options);
    context.after(() => app.stop({ drains: false }));
    return app;
}
/** A configuration with short probe intervals. */
export function withQuickProbes(config) {
    return { ...config, probe: { ...config.probe, intervalMs: 50, clusterIntervalMs: 100 } };
}
/** The port of the listener of an App that has the address and API of `listener`. */
export function portFor(app, listener) {
    const open = app.listeners.find(({ config }) => config.address === listener.address && config.dialect === listener.dialect);
    assert.ok(open !== undefined, "the listener is not open");
    return open.port;
}
/** The status of a GET request. */
export async function statusOf(port, path) {
    return (await fetch(`http://127.0.0.1:${port}${path}`)).status;
}
//# sourceMappingURL=app-fixture.js.map