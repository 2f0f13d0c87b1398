/** A cluster for incidents, whose primary soon drops a silent receiver, and rolecall, which explains its verdicts. */
import assert from "node:assert/strict";
import { after, before } from "node:test";
import { Cluster } from "../lab/cluster.js";
import { Rolecall } from "../lab/rolecall.js";
import { until } from "../../fake/until.js";
import { Stage } from "./stage.js";
/** Hooks that start it for the tests of a `describe`, and end it. @returns what the tests take it by */
export function incidentLab(command, version) {
    let lab;
    let stop = async () => { };
    before(async () => {
        const cluster = await Cluster.start(command);
        stop = () => cluster.stop();
        // A primary drops a silent receiver after a minute by default.
        await cluster.configure({ postgresql: { parameters: { wal_sender_timeout: "2s" } } });
        await cluster.streaming();
        const rolecall = await Rolecall.start(cluster, { guards: { attach_window: "2s" } });
        stop = async () => {
            await rolecall.stop();
            await cluster.stop();
        };
        const routes = ["/primary", "/leader", "/replica", "/replica?lag=1MB", "/health"];
        lab = {
            cluster,
            rolecall,
            stage: new Stage({ cluster, rolecall, title: `Patroni ${version}`, watched: routes, settled: routes }),
        };
    });
    after(() => stop());
    return () => {
        assert.ok(lab !== undefined, "the lab is up");
        return lab;
    };
}
/** Waits (20 s) until we refuse the check for this reason. */
export async function refusedFor({ lab: { rolecall }, node, check }, reason) {
    return until({ what: `${reason} for ${check} of ${node.name}`, seconds: 20, evidence: () => rolecall.tail }, async () => {
        const reply = await rolecall.ask(node.name, check);
        return reply.reason === reason ? reply : undefined;
    });
}
/** Makes sure that the explanation names the reason, and the rule that decided. */
export async function assertTold({ lab: { rolecall }, node, check }, [reason, rule]) {
    const explanation = await rolecall.explain(node.name, check);
    assert.deepEqual([explanation.fit, explanation.reason, explanation.decisive], [false, reason, rule], JSON.stringify(explanation.rules));
}
/** The time since an instant of the monotonic clock, for people. */
export function since(ms) {
    return `${((performance.now() - ms) / 1000).toFixed(1)} s`;
}
//# sourceMappingURL=incident.js.map