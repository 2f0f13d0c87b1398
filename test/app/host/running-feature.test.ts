/** The life of a feature in a process: loaded on first use, contained, and nothing left after its end. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Config } from "../../../src/core/config/model/config.ts";
import type { Feature, Host, ListenerInForce, Opened } from "../../../src/core/feature/feature.ts";
import type { FeatureCall } from "../../../src/core/http/admin-api/admin-api.ts";
import { Offer } from "../../../src/core/feature/offer.ts";
import type { Scope } from "../../../src/core/feature/scope.ts";
import { featureIn, type FeaturesContext, type RunningFeature } from "../../../src/app/host/running-feature.ts";
import { Features } from "../../../src/app/host/features.ts";
import { clusterOf, configOf, listenerOf } from "../../fake/config.ts";
import { ManualClock } from "../../fake/manual-clock.ts";

const used = configOf({ clusters: [], drainMs: 1 });
const alsoUsed = configOf({ clusters: [], drainMs: 2 });
const unused = configOf({ clusters: [], drainMs: 0 });

interface Probe extends Opened {
  readonly value: number;
}

interface Fixture {
  readonly running: RunningFeature;
  readonly done: string[];
  readonly contained: string[];
  readonly changed: string[];
  readonly clock: ManualClock;
  /** Lets the import of the feature succeed, or fail. */
  readonly loaded: (problem?: Error) => Promise<void>;
}

interface Behaviour {
  readonly open?: (host: Host, scope: Scope) => void;
  readonly configure?: (config: Config) => void | Promise<void>;
  readonly clusterChanged?: (name: string) => void;
  /** Adds to what is known of the feature. */
  readonly more?: Partial<Feature<Probe>>;
}

function fixture({ open = () => {}, configure = () => {}, clusterChanged = () => {}, more }: Behaviour = {}): Fixture {
  const [done, contained, changed]: string[][] = [[], [], []];
  const clock = new ManualClock();
  let imports: ((problem?: Error) => void)[] = [];
  const start = (host: Host, scope: Scope): Probe => {
    done?.push("open");
    scope.hold("what it holds", () => void done?.push("end"));
    scope.setTimer(() => void done?.push("timer"), 10);
    open(host, scope);
    return {
      value: 7,
      configure: (config) => {
        done?.push(`configure ${config.drainMs}`);
        return configure(config);
      },
      clusterChanged,
      listening: (keys) => void done?.push(`listening ${[...keys].join()}`),
      draining: () => void done?.push("draining"),
      probing: (clusters) => void done?.push(`probing ${clusters.map(({ name }) => name).join()}`),
      withdrawn: () => void done?.push("withdrawn"),
    };
  };
  const feature: Feature<Probe> = {
    name: "probe",
    isUsed: ({ drainMs }) => drainMs > 0,
    load: () =>
      new Promise((resolve, reject) => {
        done?.push("load");
        imports.push((problem) => (problem === undefined ? resolve(start) : reject(problem)));
      }),
    routes: { probe: (one) => ({ ...noReply, status: one === null ? 404 : 200 }) },
    metrics: [{ type: "gauge", name: "probe", help: "", read: (one) => one?.value ?? null }],
    overview: (one, cluster) => ({ [cluster]: one.value }),
    dialects: { agent: { serve: () => () => void done?.push("converse") } },
    ...more,
  };
  const context: FeaturesContext = {
    ...missing,
    setTimer: (run, delayMs) => clock.setTimer(run, delayMs),
    changed: (cluster) => void changed?.push(cluster),
    contained: (error, about) => void contained?.push(`${String(error)} ${JSON.stringify(about)}`),
  };
  const loaded = async (problem?: Error): Promise<void> => {
    for (const finish of imports) finish(problem);
    imports = [];
    await settled();
  };
  return {
    running: featureIn(feature, context),
    done: done ?? [],
    contained: contained ?? [],
    changed: changed ?? [],
    clock,
    loaded,
  };
}

const noReply = { status: 0, phrase: "", headers: [], body: Buffer.alloc(0) };
const missing = null as unknown as Host;
const connection = { socket: { destroy: (): void => {} } } as never;
const listener: ListenerInForce = { listener: listenerOf({ dialect: "agent" }), config: used, key: "a" };
const call = null as unknown as FeatureCall;

function settled(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}

describe("a feature in a process", () => {
  test("is loaded when a configuration uses it, and configured with the newest one", async () => {
    const { running, done, loaded } = fixture();
    running.configure(unused);
    running.clusterChanged("demo");
    assert.deepEqual([running.state, done], ["unused", []]);
    running.configure(used);
    running.configure(alsoUsed);
    assert.deepEqual([running.state, done], ["opening", ["load"]]);
    await loaded();
    assert.deepEqual([running.state, done], ["open", ["load", "open", "configure 2"]]);
    running.configure(used);
    assert.deepEqual(done.at(-1), "configure 1");
  });

  test("ends with the configuration that used it, and what it held with it", async () => {
    const { running, done, clock, loaded } = fixture();
    running.configure(used);
    await loaded();
    running.configure(unused);
    await settled();
    await clock.pass(100);
    assert.deepEqual([running.state, done.at(-1), clock.timers], ["unused", "end", 0]);
    running.configure(used);
    await loaded();
    assert.deepEqual([running.state, done.filter((one) => one === "open").length], ["open", 2]);
  });

  test("begins nothing if its use ends while it is loaded, and begins once if it comes back", async () => {
    const { running, done, loaded } = fixture();
    running.configure(used);
    running.configure(unused);
    running.configure(used);
    await loaded();
    assert.deepEqual(done, ["load", "load", "open", "configure 1"]);
    await running.end();
    running.configure(used);
    await loaded();
    assert.deepEqual([running.state, done.at(-1)], ["ended", "end"]);
  });

  test("has failed if it cannot be loaded or opened; the next configuration tries again", async () => {
    const { running, done, contained, loaded } = fixture();
    running.configure(used);
    await loaded(new Error("no module"));
    assert.deepEqual([running.state, running.errors], ["failed", 1]);
    assert.deepEqual(contained, ['Error: no module {"feature":"probe"}']);
    running.configure(used);
    await loaded();
    assert.deepEqual([running.state, done.at(-1)], ["open", "configure 1"]);
  });

  for (const [what, behaviour] of [
    ["opening", { open: () => fail() }],
    ["its first configuration", { configure: () => fail() }],
  ] as const)
    test(`leaves nothing behind if ${what} throws`, async () => {
      const { running, done, clock, loaded } = fixture(behaviour);
      running.configure(used);
      await loaded();
      assert.deepEqual([running.state, done.at(-1), clock.timers], ["failed", "end", 0]);
      assert.deepEqual([running.overview("demo"), running.conditions("demo")], [{}, []]);
    });

  test("that throws later is logged and counted, and goes on", async () => {
    const { running, contained, loaded } = fixture({ clusterChanged: () => fail() });
    running.configure(used);
    await loaded();
    running.clusterChanged("demo");
    assert.deepEqual([running.state, running.errors, contained.length], ["open", 1, 1]);
    assert.deepEqual(running.overview("demo"), { demo: 7 });
  });

  test("answers its paths and metrics whether it is in use or not", async () => {
    const { running, loaded } = fixture();
    const answer = (): unknown => Object(running.routes.get("probe")?.(call)).status;
    const metric = (): unknown => running.metrics[0]?.read();
    assert.deepEqual([answer(), metric()], [404, null]);
    running.configure(used);
    await loaded();
    assert.deepEqual([answer(), metric()], [200, 7]);
    await running.end();
    assert.deepEqual([answer(), metric()], [404, null]);
  });

  test("speaks on a listener of its dialect once it is open, opened by the listener if need be", async () => {
    const { running, done, loaded } = fixture();
    assert.equal(running.handlerFor("xds", listener), null);
    const converse = running.handlerFor("agent", listener);
    converse?.(connection);
    assert.deepEqual([running.state, done], ["opening", ["load"]]);
    await loaded();
    assert.deepEqual(done.at(-1), "converse");
    running.configure(unused);
    await settled();
    converse?.(connection);
    await settled();
    assert.deepEqual(done.at(-1), "end");
  });

  test("is told of a withdrawal while it is open", async () => {
    const { running, done, loaded } = fixture();
    running.withdrawn();
    running.configure(used);
    await loaded();
    assert.ok(!done.includes("withdrawn"), "one that opens later asks its host");
    running.withdrawn();
    assert.deepEqual(done.at(-1), "withdrawn");
  });

  test("is told what is probed here once it is open, and not what was probed under another configuration", async () => {
    const { running, done, loaded } = fixture();
    running.configure(unused);
    running.probing([clusterOf({ name: "old" })]);
    running.configure(used);
    await loaded();
    assert.deepEqual(done, ["load", "open", "configure 1"]);
    running.probing([clusterOf({ name: "a" }), clusterOf({ name: "b" })]);
    assert.deepEqual(done.at(-1), "probing a,b");
    running.configure(unused);
    await settled();
    running.configure(used);
    running.probing([clusterOf({ name: "c" })]);
    await loaded();
    assert.deepEqual(done.slice(-2), ["configure 1", "probing c"]);
  });

  test("that is opened while the process drains is told so", async () => {
    const { running, done, loaded } = fixture();
    running.configure(used);
    running.draining();
    await loaded();
    assert.deepEqual(done, ["load", "open", "configure 1", "draining"]);
  });

  test("is opened by a call of its route, if it says so, once a configuration is in force, and stays open", async () => {
    const { running, done, loaded } = fixture({ more: { opensOn: ["probe"] } });
    const answers = [0, 1].map(async () => Object(await running.routes.get("probe")?.(call)).status);
    await settled();
    assert.deepEqual(done, [], "nothing is known yet");
    running.configure(unused);
    await settled();
    await loaded();
    assert.deepEqual(await Promise.all(answers), [200, 200]);
    running.configure(unused);
    assert.deepEqual([running.state, done], ["open", ["load", "open", "configure 0", "configure 0"]]);
    await running.end();
    assert.equal(Object(await running.routes.get("probe")?.(call)).status, 404);
  });

  test("that ends before a configuration is in force lets its calls go on", async () => {
    const { running } = fixture({ more: { opensOn: ["probe"] } });
    const answer = running.routes.get("probe")?.(call);
    await running.end();
    assert.equal(Object(await answer).status, 404);
  });

  test("that a call could not open is tried again by the next one", async () => {
    const { running, loaded } = fixture({ more: { opensOn: ["probe"] } });
    const ask = async (): Promise<unknown> => Object(await running.routes.get("probe")?.(call)).status;
    running.configure(unused);
    const first = ask();
    await loaded(new Error("no module"));
    assert.deepEqual([await first, running.state], [404, "failed"]);
    const second = ask();
    await loaded();
    assert.equal(await second, 200);
  });

  test("that divides probes is waited for until a configuration is in force, or it has ended", async () => {
    const taking: (() => void)[] = [];
    const configure = (): Promise<void> => new Promise((resolve) => void taking.push(resolve));
    const { running, loaded } = fixture({ configure, more: { precedesProbes: true } });
    const seen: string[] = [];
    const note = (what: string) => void running.probesMayBegin().then(() => seen.push(what));
    running.configure(used);
    note("first");
    await loaded();
    assert.deepEqual(seen, [], "it takes it");
    taking[0]?.();
    await settled();
    running.configure(alsoUsed);
    note("second");
    await settled();
    assert.deepEqual(seen, ["first"]);
    taking[1]?.();
    await settled();
    running.configure(unused);
    note("ended");
    await settled();
    assert.deepEqual(seen, ["first", "second", "ended"]);
    const other = fixture({ configure });
    other.running.configure(used);
    await other.running.probesMayBegin();
  });

  for (const [what, at] of [
    ["its first configuration", 0],
    ["a later one", 1],
  ] as const)
    test(`is waited for no more if ${what} fails`, async () => {
      let configured = 0;
      const configure = (): Promise<void> => (configured++ === at ? Promise.reject(new Error("broken")) : settled());
      const { running, contained, loaded } = fixture({ configure, more: { precedesProbes: true } });
      running.configure(used);
      await loaded();
      running.configure(alsoUsed);
      await Promise.race([loaded(), settled()]);
      await running.probesMayBegin();
      assert.deepEqual([running.state, contained.length], ["open", 1]);
    });

  test("says what `/edges` shows whether it is in use or not; what throws is left out", async () => {
    const { running, loaded } = fixture({ more: { edges: (one, only) => ({ seen: one?.value ?? only }) } });
    assert.deepEqual(running.edges("demo"), { seen: "demo" });
    assert.deepEqual(running.edges(null), { seen: null });
    running.configure(used);
    await loaded();
    assert.deepEqual(running.edges(null), { seen: 7 });
    const broken = fixture({ more: { edges: () => fail() } });
    assert.deepEqual([broken.running.edges(null), broken.contained.length, fixture().running.edges(null)], [{}, 1, {}]);
  });

  test("has conditions examined anew when its use ends, and not when the process ends", async () => {
    const left = fixture({ open: (host, scope) => void scope.hold("found", () => host.changed("demo")) });
    left.running.configure(used);
    await left.loaded();
    left.running.configure(unused);
    await settled();
    assert.deepEqual(left.changed, ["demo"]);
    const ended = fixture({ open: (host, scope) => void scope.hold("found", () => host.changed("demo")) });
    ended.running.configure(used);
    await ended.loaded();
    await ended.running.end();
    assert.deepEqual(ended.changed, []);
  });
});

test("features name those that failed, in their metrics too, and no dialect that nobody speaks is served", async () => {
  const { running, loaded } = fixture();
  const features = new Features([running]);
  features.configure(used);
  await loaded(new Error("no module"));
  assert.deepEqual(features.failed, ["probe"]);
  const read = (name: string): unknown => [...Object(features.metrics.find((one) => one.name === name)?.read())];
  assert.deepEqual(read("rolecall_feature_up"), [[{ feature: "probe" }, 0]]);
  assert.deepEqual(read("rolecall_feature_errors_total"), [[{ feature: "probe" }, 1]]);
  assert.throws(() => features.handlerFor("smtp", listener), /its dialect must be known, got smtp/);
});

describe("a feature that lives of what others give", () => {
  const offer: Offer<unknown> = new Offer();
  const taker = (): Fixture => fixture({ more: { name: "taker", isUsed: (_, isGiven) => isGiven(offer) } });
  const giver = (): Fixture => fixture({ more: { name: "giver", gives: [offer] } });

  test("is in use while the configuration uses one of them", async () => {
    const [one, other] = [taker(), giver()];
    const features = new Features([one.running, other.running]);
    features.configure(unused);
    assert.deepEqual([...features.states.values()], ["unused", "unused"]);
    features.configure(used);
    await Promise.all([one.loaded(), other.loaded()]);
    assert.deepEqual([...features.states.values()], ["open", "open"]);
  });

  test("is not in use where nobody gives it", () => {
    const features = new Features([taker().running]);
    features.configure(used);
    assert.deepEqual([...features.states.values()], ["unused"]);
  });
});

describe("features that need each other", () => {
  const offer: Offer<unknown> = new Offer();
  const needy = (): Fixture => fixture({ more: { name: "needy", needs: [offer] } });
  const giver = (): Fixture => fixture({ more: { name: "giver", gives: [offer], isUsed: () => false } });

  test("are in use together", async () => {
    const [one, other] = [needy(), giver()];
    const features = new Features([one.running, other.running]);
    features.configure(used);
    await Promise.all([one.loaded(), other.loaded()]);
    assert.deepEqual([...features.states.values()], ["open", "open"]);
    features.configure(unused);
    assert.deepEqual([...features.states.values()], ["unused", "unused"]);
    await features.probesMayBegin();
  });

  test("fail where nobody gives what they need, and end if that is gone", async () => {
    const one = needy();
    const features = new Features([one.running]);
    features.configure(unused);
    assert.deepEqual([features.failed, one.contained], [[], []]);
    features.configure(used);
    assert.deepEqual([features.failed, one.done], [["needy"], []]);
    assert.match(one.contained.join(), /another feature must give what it needs, and none does \{"feature":"needy"\}$/);
  });
});

function fail(): never {
  throw new Error("broken");
}
