/** What following gives the core: which clusters it brings, by its configuration and by who shares them; and whom it feeds. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { gunzipSync } from "node:zlib";
import type { Config, UpstreamConfig } from "../../../src/core/config/model/config.ts";
import { feedProtocol, outcomeShape } from "../../../src/core/config/outcome-shape.ts";
import { clusterSharings, evidenceBringers } from "../../../src/core/feature/offers.ts";
import { Scope } from "../../../src/core/feature/scope.ts";
import type { ClusterSharing, EvidenceBringer } from "../../../src/core/feature/shared-evidence.ts";
import { feedTransports, openFollow, type RunningFollow } from "../../../src/features/follow/open-follow.ts";
import { buildClusters } from "../../../src/core/state/clusters.ts";
import { Store } from "../../../src/core/state/store.ts";
import { clusterOf, configOf } from "../../fake/config.ts";
import { ManualClock } from "../../fake/manual-clock.ts";
import { silentLogger } from "../../fake/silent-logger.ts";

const upstreamAt = (url: string): UpstreamConfig => ({ url, tokenFile: null, tls: null });
const [core, owner] = [upstreamAt("http://core:9108"), upstreamAt("http://owner:9108")];
const [own, shared] = [clusterOf({ name: "own", follow: [core] }), clusterOf({ name: "shared" })];
const config = configOf({ clusters: [own, shared] });

interface Fixture {
  readonly running: RunningFollow;
  readonly bringer: EvidenceBringer;
  readonly offers: { readonly process: string };
  readonly scope: Scope;
  readonly clock: ManualClock;
  readonly begun: string[];
  readonly contained: unknown[];
  /** The addresses of the streams that are open. */
  readonly open: string[];
}

function fixture(): Fixture {
  const clock = new ManualClock();
  const store = new Store("run", buildClusters(config, new Map()));
  const offers = { process: "run" };
  const [begun, contained, open]: [string[], unknown[], string[]] = [[], [], []];
  feedTransports.bring(offers, {
    open: ({ url }) => {
      if (url.includes("broken")) throw new Error("broken");
      return () => {
        open.push(url);
        const close = (): void => void open.splice(open.indexOf(url), 1);
        return { echo: () => {}, select: () => {}, drain: () => assert.fail("nobody drains"), close };
      };
    },
  });
  const setTimer = (run: () => void, ms: number): (() => void) => clock.setTimer(run, ms);
  const scope = new Scope({ setTimer, onProblem: (what, problem) => assert.fail(`${what}: ${problem}`) });
  let ids = 0;
  const host: Parameters<typeof openFollow>[0] = {
    log: silentLogger,
    now: () => clock.nowMs,
    reading: () => ({ monotonicMs: clock.nowMs, addedMs: 0 }),
    wall: () => clock.nowMs,
    random: () => 0,
    newId: () => String((ids += 1)),
    cluster: (name) => store.clusterNamed(name),
    policy: (name) => store.policyOf(name),
    onOutcome: (listener) => store.onOutcome((outcome) => listener(outcome)),
    told: { record: () => {}, adopt: () => {}, drained: () => {}, first: () => {} },
    probes: {
      begin: (cluster) => {
        begun.push(cluster);
        return Promise.resolve();
      },
      end: () => {},
      isActive: () => false,
      ask: () => Promise.resolve(null),
      divide: () => {},
    },
    drains: { begin: () => assert.fail("nobody drains"), end: () => assert.fail("nobody drains") },
    offers,
    contained: (error) => void contained.push(error),
  };
  const running = openFollow(host, scope);
  const [bringer] = evidenceBringers.in(offers);
  assert.ok(bringer !== undefined);
  return { running, bringer, offers, scope, clock, begun, contained, open };
}

/** A fleet in which another instance owns the shared cluster, until a test changes that. */
function share({ offers }: Fixture): { owners: readonly UpstreamConfig[]; takeBack: () => void } {
  const fleet = { owners: [owner] as readonly UpstreamConfig[], takeBack: (): void => {} };
  const sharing: ClusterSharing = {
    ownersOf: (cluster) => (cluster === "shared" ? fleet.owners : []),
    otherOwners: new Map(),
  };
  fleet.takeBack = clusterSharings.bring(offers, sharing);
  return fleet;
}

const caller = { name: "edge", principal: null, mayFollow: () => true, mayDrain: () => true };

/** Follows clusters of it. @returns what the stream says at its end, and whether it was ended */
function streamOf({ running }: Fixture, of: Config, ...names: readonly string[]): { said: string[]; ended: boolean } {
  const seen = { said: [] as string[], ended: false };
  const clusters = of.clusters
    .filter(({ name }) => names.includes(name))
    .map((cluster) => ({ name: cluster.name, shape: outcomeShape(cluster, of.probe) }));
  const request = { protocol: feedProtocol, version: "1", name: "edge", token: 1, canMove: true, resume: null };
  const opened = running.feeds.open({ ...request, clusters }, caller, () => ({
    write: (bytes) => void seen.said.push(gunzipSync(bytes).toString().trim()),
    waiting: 0,
    end: () => (seen.ended = true),
  }));
  assert.equal(opened.kind, "open");
  return seen;
}

describe("following", () => {
  test("brings what has upstreams, and what others own; streams begin with the start", async () => {
    const one = fixture();
    void one.running.configure(config);
    assert.deepEqual(
      [own, shared].map((cluster) => one.bringer.brings(cluster)),
      [true, false],
    );
    assert.deepEqual(one.open, [], "the probers do not know the clusters yet");
    const started = one.bringer.start();
    assert.deepEqual([one.open, one.bringer.phases], [[core.url], [["own", "awaiting"]]]);
    const fleet = share(one);
    assert.deepEqual([one.bringer.brings(shared), one.bringer.phases.length], [true, 1]);
    void one.bringer.start();
    assert.deepEqual(one.open, [core.url, owner.url]);
    fleet.owners = [];
    void one.bringer.start();
    assert.deepEqual([one.open, one.bringer.brings(shared)], [[core.url], false]);
    await one.clock.pass(20_000);
    await started;
    assert.deepEqual(one.begun, ["own"], "nobody feeds it");
    await one.scope.end();
  });

  test("goes on with a cluster's own upstreams, whoever shares it", () => {
    const one = fixture();
    void one.running.configure(configOf({ clusters: [{ ...shared, follow: [core] }] }));
    share(one);
    void one.bringer.start();
    assert.deepEqual(one.open, [core.url]);
  });

  test("looks at a cluster as another configuration has it, before that is in force", () => {
    const one = fixture();
    void one.running.configure(config);
    assert.equal(one.bringer.brings({ ...shared, follow: [core] }), true);
    assert.equal(one.bringer.brings({ ...own, follow: [] }), false);
  });

  test("never fails a start: an internal error is reported", async () => {
    const one = fixture();
    void one.running.configure(configOf({ clusters: [{ ...own, follow: [upstreamAt("http://broken:1")] }] }));
    await one.bringer.start();
    assert.match(String(one.contained), /broken/);
  });

  test("leaves no stream, no timer and no offer after its end", async () => {
    const one = fixture();
    void one.running.configure(config);
    void one.bringer.start();
    const fed = streamOf(one, config, "shared");
    await one.scope.end();
    assert.deepEqual([one.open, one.clock.timers, evidenceBringers.in(one.offers)], [[], 0, []]);
    assert.equal(fed.ended, true);
    const { kind } = one.running.feeds.open({}, caller, () => assert.fail("it has ended"));
    assert.notEqual(kind, "open");
  });
});

describe("feeding", () => {
  const refusedIn = ({ said }: { readonly said: readonly string[] }): string[] =>
    said.flatMap((text) => [...text.matchAll(/"reason":"(\w+)"/g)].map(([, reason = ""]) => reason));

  test("does not feed what others own, and again once it is owned here", async () => {
    const one = fixture();
    void one.running.configure(config);
    const fleet = share(one);
    void one.bringer.start();
    const fed = streamOf(one, config, "own", "shared");
    assert.deepEqual(refusedIn(fed), ["not_probed", "not_probed"]);
    fleet.owners = [];
    void one.bringer.start();
    assert.deepEqual(refusedIn(fed).slice(2), ["not_probed"], "its own upstreams feed the other one");
    await one.scope.end();
  });

  for (const [what, act, reason] of [
    ["a reload", (one: Fixture) => void one.running.configure(config), "reload"],
    ["a process that begins to stop", (one: Fixture) => one.running.draining?.(), "stopping"],
    ["its own end", (one: Fixture) => void one.scope.end(), "reload"],
  ] as const)
    test(`ends streams, with a word, at ${what}`, async () => {
      const one = fixture();
      void one.running.configure(config);
      const fed = streamOf(one, config, "shared");
      act(one);
      await new Promise(setImmediate);
      assert.deepEqual([fed.said.at(-1), fed.ended], [JSON.stringify({ bye: reason }), true]);
      await one.scope.end();
    });
});
