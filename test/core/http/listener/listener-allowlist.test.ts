import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { ListenerAccess } from "../../../../src/core/config/model/listener-access-config.ts";
import { nodeOf } from "../../../fake/config.ts";
import { openFakeNode } from "../../../fake/fake-node.ts";
import { gatewayFixtureOf } from "../../../fake/gateway-fixture.ts";
import { restart, withListener } from "./listener-fixture.ts";

suite("an allowlist of networks", () => {
  const rows: readonly (readonly [string, Partial<ListenerAccess>, number, number])[] = [
    ["the network of the caller", { allow: ["127.0.0.0/8"] }, 200, 200],
    ["the address of the caller", { allow: ["127.0.0.1"] }, 200, 200],
    ["another network", { allow: ["10.0.0.0/8", "::1"] }, 403, 403],
    ["another network, for calls that change something only", { allow: ["10.0.0.0/8"], allowFor: "unsafe" }, 200, 403],
    ["no network", { allow: [] }, 403, 403],
  ];
  for (const [given, access, check, call] of rows) {
    test(given, async () => {
      await withListener(access, async (gateway) => {
        assert.equal((await gateway.request("/nodes/pg1/primary")).status, check);
        assert.equal((await gateway.request("/nodes/pg1/restart", restart())).status, call);
      });
    });
  }
  test("matches an IPv4 caller of a dual-stack socket by its IPv4 address", async () => {
    const pg1 = await openFakeNode({ name: "pg1", holdsLock: true });
    const gateway = await gatewayFixtureOf([nodeOf(pg1)], {
      listener: { address: "::" },
      access: { allow: ["127.0.0.1/32"] },
    });
    try {
      assert.equal((await gateway.request("/nodes/pg1/primary")).status, 200);
    } finally {
      await gateway.close();
      await pg1.close();
    }
  });
});
