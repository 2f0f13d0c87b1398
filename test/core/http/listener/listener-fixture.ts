import type { ListenerAccess } from "../../../../src/core/config/model/listener-access-config.ts";
import type { RequestParts } from "../../../fake/http-request.ts";
import { nodeOf } from "../../../fake/config.ts";
import { openFakeNode, type FakeNode } from "../../../fake/fake-node.ts";
import { gatewayFixtureOf, type GatewayFixture } from "../../../fake/gateway-fixture.ts";

/** Runs `play` with a rolecall whose health listener has these access rules, and with its one node. */
export async function withListener(
  access: Partial<ListenerAccess>,
  play: (gateway: Omit<GatewayFixture, "simulator">, node: FakeNode) => Promise<void>,
): Promise<void> {
  const pg1 = await openFakeNode({ name: "pg1", holdsLock: true });
  const gateway = await gatewayFixtureOf([nodeOf(pg1)], { access });
  try {
    await play(gateway, pg1);
  } finally {
    await gateway.close();
    await pg1.close();
  }
}

export const restart = (request: RequestParts = {}): RequestParts => ({ method: "POST", ...request });
