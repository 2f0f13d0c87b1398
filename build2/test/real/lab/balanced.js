/** A cluster behind HAProxy as config/examples/haproxy.cfg has it, with two instances of rolecall. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before } from "node:test";
import { Cluster } from "./cluster.js";
import { filledExample } from "./example.js";
import { Haproxy } from "./haproxy.js";
import { ports } from "./ports.js";
import { Rolecall } from "./rolecall.js";
import { until } from "../../fake/until.js";
/** Hooks that start it for the tests of a `describe`, and end it. @returns what the tests take it by */
export function balancedLab(command) {
    const stops = [];
    let lab;
    before(async () => {
        const cluster = await Cluster.start(command);
        stops.unshift(() => cluster.stop());
        await cluster.streaming();
        const start = async (number) => {
            const rolecall = await Rolecall.start(cluster, { number });
            stops.unshift(() => rolecall.stop());
            return rolecall;
        };
        const [rolecall, second] = [await start(1), await start(2)];
        assertValid(filledExample(cluster, join(cluster.folder, "haproxy.sock")), cluster.folder);
        const haproxy = await Haproxy.start(cluster, (own, socket) => filledExample(own, socket) + morePools(own));
        stops.unshift(() => haproxy.stop());
        const again = async () => {
            await start(1);
        };
        lab = { cluster, rolecall, second, haproxy, again };
        await settledAs(haproxy, `write/${(await cluster.leader()).name}`, "UP");
    });
    after(async () => {
        for (const stop of stops)
            await stop();
    });
    return () => {
        assert.ok(lab !== undefined, "the lab is up");
        return lab;
    };
}
/** Waits (30 s) until HAProxy has a server, named `pool/node`, in this status. */
export function settledAs(haproxy, server, wanted) {
    return until({ what: `${server} that is ${wanted}`, seconds: 30, evidence: () => haproxy.tail }, async () => {
        const found = await haproxy.server(server);
        return found.status === wanted ? found : undefined;
    });
}
/** HAProxy's own verdict on the example, without the pools of the tests: valid, and without a warning. */
function assertValid(example, folder) {
    const file = join(folder, "example.cfg");
    writeFileSync(file, example);
    assert.match(execFileSync("haproxy", ["-c", "-f", file], { encoding: "utf8" }), /^Configuration file is valid$/m);
}
/** Pools that the example does not have: primaries with a soft no, and a server whose address is another node's. */
function morePools({ nodes: [pg1, pg2, pg3] }) {
    const pace = "inter 500ms rise 2 fall 1";
    const pool = (name, port, route) => `
listen ${name}
  bind 127.0.0.1:${port}
  option httpchk
  http-check send meth GET uri-lf /clusters/demo/nodes/%[srv_name]${route} ver HTTP/1.1 hdr Host rolecall
  http-check expect status 200
  http-check disable-on-404
  http-check send-state
  default-server check addr 127.0.0.1 port ${ports.haproxyChecks} ${pace} on-marked-down shutdown-sessions
`;
    const soft = [pg1, pg2, pg3].map(({ name, databasePort }) => `  server ${name} 127.0.0.1:${databasePort}\n`).join("");
    const moved = [pg1, pg2].map(({ name }) => `  server ${name} 127.0.0.1:${pg2.databasePort}\n`).join("");
    return `${pool("soft", ports.haproxySoft, "/primary?miss=404")}${soft}${pool("moved", ports.haproxyMoved, "/health")}${moved}`;
}
//# sourceMappingURL=balanced.js.map