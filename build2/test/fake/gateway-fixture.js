import { PassThrough } from "node:stream";
import { pino } from "pino";
import { App } from "../../src/app/app.js";
import { unrestrictedAccess } from "../../src/config/model/listener-access-config.js";
import { startSimulator } from "../../src/simulator/simulator.js";
import { sendRequest } from "./http-request.js";
import { until } from "./until.js";
import { clusterOf, configOf, listenerOf } from "./config.js";
/** Like {@link gatewayFixture}, but in front of the test's own nodes: they are configured, none is discovered. */
export async function gatewayFixtureOf(nodes, options = {}) {
    return open(options, clusterOf({ nodes, ...options.cluster }));
}
/** Builds it on free ports. Waits until there is a leader and the dynamic configuration is known. */
export async function gatewayFixture(options = {}) {
    const simulator = await startSimulator({ nodes: 3, port: 0, switchoverMs: 60, ...options.simulator });
    const gateway = await open(options, clusterOf({ discover: simulator.nodes.map(({ url }) => url), ...options.cluster }));
    const close = async () => {
        await gateway.close();
        await simulator.stop();
    };
    return { ...gateway, simulator, close };
}
async function open(options, cluster) {
    const log = [];
    const lines = new PassThrough();
    lines.on("data", (line) => log.push(JSON.parse(line.toString())));
    const access = { ...unrestrictedAccess, management: true, ...options.access };
    const listen = [
        listenerOf({ cluster: "demo", access, ...options.listener }),
        listenerOf({ dialect: "admin", address: "127.0.0.2" }),
        listenerOf({ cluster: "demo", address: "127.0.0.3" }),
    ];
    const app = new App(configOf({ clusters: [cluster], listen, hostSuffixes: options.hostSuffixes ?? [] }), pino({}, lines));
    await app.start();
    const scheme = access.tls === null ? "http" : "https";
    const port = (at) => app.listeners[at]?.port ?? 0;
    const url = `${scheme}://127.0.0.1:${port(0)}`;
    const admin = `http://127.0.0.2:${port(1)}`;
    const questions = `http://127.0.0.3:${port(2)}`;
    await until({ what: "a leader and the configuration", seconds: 8 }, async () => {
        const paths = ["/clusters/demo/primary", "/clusters/demo/config"];
        const answers = await Promise.all(paths.map((path) => sendRequest(`${questions}${path}`)));
        return answers.every(({ status }) => status === 200);
    });
    const close = () => app.stop({ drains: false });
    return {
        app,
        url,
        adminUrl: admin,
        checksUrl: questions,
        logRecords: log,
        request: (path, parts) => sendRequest(`${url}${path}`, parts),
        close,
    };
}
//# sourceMappingURL=gateway-fixture.js.map