import { nodeOf } from "./config.js";
import { openFakeNode } from "./fake-node.js";
import { gatewayFixtureOf } from "./gateway-fixture.js";
/**
 * Runs `play` with rolecall in front of a leader pg1 and a replica pg2, whose answers to management calls the test
 * decides.
 */
export async function withFaultyGateway({ respond, ...options }, play) {
    const shared = respond === undefined ? {} : { respond };
    const pg1 = await openFakeNode({ name: "pg1", holdsLock: true, ...shared });
    const pg2 = await openFakeNode({ name: "pg2", holdsLock: false, ...shared });
    const gateway = await gatewayFixtureOf([pg1, pg2].map(({ name, api }) => nodeOf({ name, api })), options);
    try {
        await play(gateway, { pg1, pg2 });
    }
    finally {
        await gateway.close();
        await Promise.all([pg1.close(), pg2.close()]);
    }
}
//# sourceMappingURL=faulty-gateway-fixture.js.map