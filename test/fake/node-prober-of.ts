import assert from "node:assert/strict";
import { NodeProber } from "../../src/core/probe/node-prober.ts";
import type { FakeTransport } from "./fake-transport.ts";

/** A prober of the first node of a scripted cluster. */
export function nodeProberOf(
  scripted: FakeTransport,
  schedule: Parameters<FakeTransport["context"]>[0] = {},
): NodeProber {
  const [first] = scripted.fixture.cluster.nodes;
  assert.ok(first !== undefined);
  return new NodeProber(first.node, first.node.api ?? "", scripted.context(schedule));
}
