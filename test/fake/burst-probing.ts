/** A prober of three scripted nodes, and what they answer, for the tests of bursts. */
import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { ClusterProber } from "../../src/core/probe/cluster-prober.ts";
import { ClusterFixture } from "./cluster-fixture.ts";
import { FakeTransport, healthyCluster, jsonReply, type Responder } from "./fake-transport.ts";
import { statusDocument } from "./node-documents.ts";

export const names = ["pg1", "pg2", "pg3"];
export const healthy: Responder = healthyCluster(names);

export interface Probing {
  readonly scripted: FakeTransport;
  readonly prober: ClusterProber;
  /** The causes of the bursts that began. */
  readonly causes: string[];
  /** How often a node's `/leader` was requested since the last call. */
  readonly sentTo: (node: string) => number;
}

/** A prober of a cluster of three nodes, which probes each second. */
export function probing(context: TestContext, script: Responder = healthy): Probing {
  const watched = new ClusterFixture({ policy: { intervalMs: 1_000 } });
  const scripted = new FakeTransport(context, watched, script);
  const causes: string[] = [];
  const onBurst = ({ cause }: { readonly cause: string }): void => void causes.push(cause);
  const prober = new ClusterProber({ ...scripted.context(), onBurst });
  scripted.onState = (before, after) => prober.onChange(before, after);
  void prober.start();
  context.after(() => prober.stop());
  const counted = new Map<string, number>();
  const sentTo = (node: string): number => {
    const all = scripted.sentAt(`${node}:8008/leader`).length;
    const fresh = all - (counted.get(node) ?? 0);
    counted.set(node, all);
    return fresh;
  };
  return { scripted, prober, causes, sentTo };
}

/** Nobody holds the lock: every node says that it is a running replica. */
export const leaderless: Responder = (origin, path) =>
  path === "/leader" ? jsonReply(statusDocument(new URL(origin).hostname), 503) : healthy(origin, path);

/** Asserts that a number is in a range. */
export const between = (value: number, min: number, max: number): void =>
  assert.ok(value >= min && value <= max, `${value} must be from ${min} to ${max}`);
