import { nodeOf } from "../../fake/config.js";
import { openFakeNode } from "../../fake/fake-node.js";
import { gatewayFixtureOf } from "../../fake/gateway-fixture.js";
/** Runs `play` with a rolecall whose health listener has these access rules, and with its one node. */
export async function withListener(access, play) {
    const pg1 = await openFakeNode({ name: "pg1", holdsLock: true });
    const gateway = await gatewayFixtureOf([nodeOf(pg1)], { access });
    try {
        await play(gateway, pg1);
    }
    finally {
        await gateway.close();
        await pg1.close();
    }
}
export const restart = (request = {}) => ({ method: "POST", ...request });
//# sourceMappingURL=listener-fixture.js.map