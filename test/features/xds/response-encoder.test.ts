import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Encodings } from "../../../src/features/xds/encodings.ts";
import { ResponseEncoder } from "../../../src/features/xds/messages/codec.ts";
import { endpointsType } from "../../../src/features/xds/protocol/xds-messages.ts";
import { XdsStream } from "../../../src/features/xds/xds-stream.ts";
import { xdsMethods } from "../../fake/xds-client.ts";
import { requestOf } from "./conversation.ts";
import { publishedPool } from "./published-pool.ts";
import { SharedNames } from "../../../src/features/xds/protocol/shared-names.ts";

describe("what many streams get", () => {
  it("is encoded once for each pool and zone, by 500 streams over 1,000 pools", () => {
    let count = 0;
    const encodings = new Encodings(() => {
      count += 1;
      return Buffer.from("assignment");
    });
    const named = (name: string, version: string): ReturnType<typeof publishedPool> =>
      publishedPool({ name, version, assignment: { zones: ["a", "b"] } });
    const pools = new Map<string, ReturnType<typeof publishedPool>>(
      Array.from({ length: 1_000 }, (_, at) => [`p${at}`, named(`p${at}`, "v1")] as const),
    );
    const sources = {
      has: (name: string) => pools.has(name),
      names: new SharedNames(),
      of: (name: string) => pools.get(name),
      published: () => pools.values(),
      versions: () => new Map([...pools].map(([name, { version }]) => [name, version])),
      mayGo: () => true,
      encoded: encodings.of.bind(encodings),
    };
    const streams = Array.from({ length: 500 }, (_, at) => {
      const stream = new XdsStream({ form: "delta", peer: "10.0.0.1:1", send: () => true }, sources);
      stream.receive(requestOf({ node: "e", zone: at % 2 === 0 ? "a" : "b" }, "delta"), 0);
      return stream;
    });
    assert.equal(count, 2_000);
    const changed = named("p7", "v2");
    pools.set("p7", changed);
    for (const stream of streams) stream.update([changed], 0);
    assert.equal(count, 2_002);
  });

  for (const form of ["sotw", "delta"] as const)
    it(`differs in its nonce alone, and in nothing that was kept of another response, ${form}`, () => {
      const encoder = new ResponseEncoder({ form, instance: () => "i1" });
      const method = xdsMethods[`ads ${form}`];
      const value = Buffer.alloc(0);
      const responseOf = (nonce: string, version: string): Record<string, unknown> => {
        const resources = [{ name: "write", version, value }];
        const bytes = encoder.encode({ type: endpointsType, version, nonce, resources });
        return method.responseDeserialize(bytes) as Record<string, unknown>;
      };
      const [first, second, third] = [responseOf("1", "v1"), responseOf("2", "v1"), responseOf("3", "v2")];
      assert.deepEqual({ ...second, nonce: "1" }, first);
      assert.deepEqual([first["nonce"], second["nonce"], third["nonce"]], ["1", "2", "3"]);
      assert.equal(third[form === "sotw" ? "version_info" : "system_version_info"], "v2");
      assert.match(JSON.stringify(first), /"identifier":"i1"/);
    });
});
