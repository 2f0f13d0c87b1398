import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { suite, test } from "node:test";
import { sendRequest } from "../fake/http-request.js";
import { until } from "../fake/until.js";
import { gatewayFixture } from "../fake/gateway-fixture.js";
const rows = JSON.parse(readFileSync("test/spec/gateway/calls.json", "utf8"));
suite("management calls, by the tables of the node API", { concurrency: 4 }, () => {
    for (const row of rows) {
        test(row.given, async () => {
            const gateway = await gatewayFixture({
                hostSuffixes: [".db.internal"],
                ...(row.simulator === undefined ? {} : { simulator: row.simulator }),
            });
            try {
                await prepare(gateway, row);
                const answer = await send(gateway, row);
                assert.equal(answer.status, row.status, answer.body);
                assert.match(answer.body, new RegExp(row.says));
                assert.equal(answer.headers["x-rolecall-reason"], row.reason);
                if (row.node !== undefined)
                    assert.equal(answer.headers["x-rolecall-node"], row.node);
                if (row.then !== undefined)
                    await shows(gateway, row.then);
            }
            finally {
                await gateway.close();
            }
        });
    }
});
async function prepare(gateway, { before = [], fault, until: sign }) {
    for (const call of before) {
        const { status, body } = await send(gateway, call);
        assert.ok(status < 300, body);
    }
    if (fault !== undefined)
        await gateway.simulator.fault(fault.node, { kind: fault.kind });
    if (sign !== undefined)
        await shows(gateway, sign);
}
async function send(gateway, { call, body, headers = {} }) {
    const [method = "", path = ""] = call.split(" ");
    return gateway.request(path, {
        method,
        headers,
        ...(body === undefined ? {} : { body: await filled(gateway, body) }),
    });
}
/** Inserts values that a table cannot contain: a future time, and the name of the synchronous replica. */
async function filled(gateway, body) {
    const text = JSON.stringify(body);
    const { sync } = gateway.simulator.model();
    const other = ["pg2", "pg3"].find((name) => !sync.includes(name)) ?? "";
    const future = new Date(Date.now() + 3_600_000).toISOString();
    const replaced = text
        .replace("{FUTURE}", future)
        .replace("{SYNC}", sync[0] ?? "")
        .replace("{ASYNC}", other);
    return JSON.parse(replaced);
}
function shows(gateway, { path, status, says = "" }) {
    return until(`${path} with ${status ?? "any status"} ${says}`, async () => {
        const answer = await sendRequest(`${gateway.checksUrl}${path}`);
        return (status === undefined || answer.status === status) && new RegExp(says).test(answer.body) ? true : undefined;
    });
}
//# sourceMappingURL=calls.test.js.map