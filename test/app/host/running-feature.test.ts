/** The life of a feature in a process: loaded on first use, contained, and nothing left after its end. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Config } from "../../../src/config/model/config.ts";
import type { Feature, Host, ListenerInForce, Opened } from "../../../src/feature/feature.ts";
import type { FeatureCall } from "../../../src/http/admin-api/admin-api.ts";
import type { Scope } from "../../../src/feature/scope.ts";
import { featureIn, type FeaturesContext, type RunningFeature } from "../../../src/app/host/running-feature.ts";
import { Features } from "../../../src/app/host/features.ts";
import { configOf, listenerOf } from "../../fake/config.ts";
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
  readonly configure?: (config: Config) => void;
  readonly clusterChanged?: (name: string) => void;
}

function fixture({ open = () => {}, configure = () => {}, clusterChanged = () => {} }: Behaviour = {}): Fixture {
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
        configure(config);
      },
      clusterChanged,
      listening: (keys) => void done?.push(`listening ${[...keys].join()}`),
      withdrawn: (isWithdrawn) => void done?.push(`withdrawn ${isWithdrawn}`),
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

  test("that is opened while the process is withdrawn is told so", async () => {
    const { running, done, loaded } = fixture();
    running.withdrawn(true);
    running.configure(used);
    await loaded();
    assert.deepEqual(done.at(-1), "withdrawn true");
    running.withdrawn(false);
    assert.deepEqual(done.at(-1), "withdrawn false");
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

function fail(): never {
  throw new Error("broken");
}
