/** What the feature gives the core: reads and hints of what is probed here, and what is pending; nothing of the rest. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { DcsResult } from "../../../src/core/cluster/dcs.ts";
import type { Hint } from "../../../src/core/cluster/hint.ts";
import type { ClusterConfig } from "../../../src/core/config/model/config.ts";
import type { Opened } from "../../../src/core/feature/feature.ts";
import { pendingChanges } from "../../../src/core/feature/offers.ts";
import { Scope } from "../../../src/core/feature/scope.ts";
import type { DcsChange, DcsSource } from "../../../src/core/dcs/dcs-source.ts";
import { dcsSources } from "../../../src/core/feature/offers.ts";
import { openDcs } from "../../../src/features/dcs/open-dcs.ts";
import { buildClusters } from "../../../src/core/state/clusters.ts";
import { Store } from "../../../src/core/state/store.ts";
import { clusterOf, configOf, nodeOf } from "../../fake/config.ts";
import { ManualClock } from "../../fake/manual-clock.ts";
import { silentLogger } from "../../fake/silent-logger.ts";

const dcs = { etcd: ["http://etcd:2379"], prefix: "/service", scope: null, tls: null, auth: null };
const [here, elsewhere, plain] = [
  clusterOf({ name: "here", dcs, nodes: [nodeOf({ name: "n1", member: "pg1", api: "http://n1:8008" })] }),
  clusterOf({ name: "elsewhere", dcs }),
  clusterOf({ name: "plain" }),
];
const config = configOf({ clusters: [here, elsewhere, plain] });

/** A DCS of one cluster: it says what the test sets. */
class SetSource implements DcsSource {
  readonly serverCount = 1;
  leader: string | null = "pg1";
  isClosed = false;
  announce: (change: DcsChange) => void = () => {};
  #revision = 1;

  async read(): Promise<DcsResult> {
    this.#revision += 1;
    return { read: { leader: this.leader, source: "set", revision: this.#revision, hasScope: true } };
  }

  async isChangePending(): Promise<boolean | null> {
    return true;
  }

  watch(_: number, onChange: (change: DcsChange) => void): ReturnType<DcsSource["watch"]> {
    this.announce = onChange;
    return { ended: new Promise(() => {}), cancel: () => {} };
  }

  close(): void {
    this.isClosed = true;
  }
}

interface Fixture {
  readonly running: Opened;
  readonly probing: (clusters: readonly ClusterConfig[]) => void;
  readonly sources: Map<string, SetSource>;
  readonly store: Store;
  readonly hints: Hint[];
  readonly counted: string[];
  readonly isPending: (cluster: string) => Promise<boolean | null> | undefined;
  readonly scope: Scope;
  /** Lets time pass, and what it leads to. */
  readonly pass: (ms: number) => Promise<void>;
}

function fixture(): Fixture {
  const clock = new ManualClock();
  const store = new Store("run", buildClusters(config, new Map()));
  const offers = { process: "run" };
  const sources = new Map<string, SetSource>();
  dcsSources.bring(offers, ({ name }) => {
    const source = new SetSource();
    sources.set(name, source);
    return source;
  });
  const scope = new Scope({
    setTimer: (run, ms) => clock.setTimer(run, ms),
    onProblem: (what, problem) => assert.fail(`${what}: ${problem}`),
  });
  const [hints, counted]: [Hint[], string[]] = [[], []];
  const count = (name: string, labels: object): void => void counted.push(`${name} ${Object.values(labels).join(" ")}`);
  const running = openDcs(
    {
      log: silentLogger,
      metrics: { count } as never,
      observe: () => clock.nowMs,
      random: () => 0,
      cluster: (name) => store.clusterNamed(name),
      snapshot: () => store.current,
      record: (outcome) => store.record(outcome, clock.nowMs),
      hint: (hint) => {
        hints.push(hint);
        return "begun";
      },
      offers,
    },
    scope,
  );
  store.onChange((_, { name }) => running.clusterChanged?.(name));
  void running.configure(config);
  const pass = async (ms: number): Promise<void> => {
    await clock.pass(ms);
    await new Promise((resolve) => void setImmediate(resolve));
  };
  return {
    running,
    probing: (clusters) => running.probing?.(clusters),
    sources,
    store,
    hints,
    counted,
    isPending: (cluster) => pendingChanges.in(offers)[0]?.(cluster),
    scope,
    pass,
  };
}

describe("the watch of the DCS", () => {
  test("is of clusters that are probed here and have a DCS, from when that is known", async () => {
    const { probing, sources, store, pass } = fixture();
    await pass(0);
    assert.deepEqual([...sources.keys()], [], "nothing is known yet");
    probing([here, plain]);
    await pass(0);
    assert.deepEqual([...sources.keys()], ["here"]);
    assert.equal(store.clusterNamed("here")?.dcs?.read?.leader, "pg1");
    probing([elsewhere, plain]);
    await pass(0);
    assert.deepEqual(
      [...sources].map(([name, { isClosed }]) => [name, isClosed]),
      [
        ["here", true],
        ["elsewhere", false],
      ],
    );
  });

  test("goes on where nothing changes", async () => {
    const { probing, sources, pass } = fixture();
    probing([here]);
    await pass(0);
    const before = sources.get("here");
    probing([{ ...here }]);
    await pass(0);
    assert.equal(sources.get("here"), before);
    assert.equal(before?.isClosed, false);
  });

  test("hints at the node of the member that it names, and counts each withdrawal once", async () => {
    const { running, probing, sources, hints, counted, pass } = fixture();
    probing([here]);
    await pass(0);
    const source = sources.get("here");
    assert.ok(source !== undefined);
    source.leader = null;
    source.announce({ kind: "leader", names: null });
    await pass(100);
    running.clusterChanged?.("here");
    source.announce({ kind: "leader", names: "pg1" });
    assert.deepEqual(
      hints.map(({ cluster, node, event }) => [cluster, node, event]),
      [
        ["here", null, null],
        ["here", "n1", null],
      ],
    );
    assert.deepEqual(
      counted.filter((line) => line.startsWith("dcsWithdrawals")),
      ["dcsWithdrawals here"],
    );
  });

  test("says whether a change is pending of what it watches, and is silent after its end", async () => {
    const { probing, sources, store, isPending, scope, pass } = fixture();
    probing([here]);
    await pass(0);
    assert.deepEqual([await isPending("here"), await isPending("elsewhere")], [true, null]);
    const before = store.current.sequence;
    await scope.end();
    await pass(60_000);
    assert.equal(sources.get("here")?.isClosed, true);
    assert.deepEqual([isPending("here"), store.current.sequence], [undefined, before]);
  });
});
