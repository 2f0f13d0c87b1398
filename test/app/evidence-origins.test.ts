/** Who probes which cluster: what nobody brings is probed here, and features are told before. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { EvidenceOrigins } from "../../src/app/evidence-origins.ts";
import { evidenceBringers } from "../../src/core/feature/offers.ts";
import type { EvidenceBringer } from "../../src/core/feature/shared-evidence.ts";
import { clusterOf, configOf } from "../fake/config.ts";

const config = configOf({ clusters: ["a", "b"].map((name) => clusterOf({ name })) });

interface Fixture {
  readonly origins: EvidenceOrigins;
  readonly done: string[];
  /** The clusters that are brought, until a test changes them. */
  readonly brought: Set<string>;
  /** Lets it be known who probes what. */
  readonly know: () => void;
}

function fixture(): Fixture {
  const done: string[] = [];
  const brought = new Set<string>();
  const offers = { process: "i1" };
  const bringer: Pick<EvidenceBringer, "brings" | "start"> = {
    brings: ({ name }) => brought.has(name),
    start: () => {
      done.push(`brings ${[...brought].join()}`);
      return Promise.resolve();
    },
  };
  evidenceBringers.bring(offers, bringer as EvidenceBringer);
  let know = (): void => {};
  const known = new Promise<void>((resolve) => {
    know = resolve;
  });
  const origins = new EvidenceOrigins(config, {
    offers,
    probers: {
      start: ({ clusters }, _, rests) => {
        done.push(`probes ${clusters.flatMap((cluster) => (rests?.(cluster) === true ? [] : [cluster.name])).join()}`);
        return Promise.resolve();
      },
      begin: (cluster) => {
        done.push(`begins ${cluster}`);
        return Promise.resolve();
      },
      stop: () => void done.push("stops probes"),
    },
    probing: (clusters) => void done.push(`tells ${clusters.map(({ name }) => name).join()}`),
    mayBegin: () => known,
  });
  return { origins, done, brought, know };
}

describe("the origins of evidence", () => {
  test("are divided before the first probe; what comes until then is not probed anew", async () => {
    const { origins, done, brought, know } = fixture();
    const started = origins.start();
    brought.add("a");
    origins.divide();
    assert.deepEqual(done, []);
    know();
    await started;
    assert.deepEqual(done, ["tells b", "probes b", "brings a"]);
    assert.deepEqual([origins.isProbed("a"), origins.isProbed("b"), origins.isProbed("c")], [false, true, false]);
  });

  test("change when what is brought changes: what is brought no more is probed, the rest goes on", async () => {
    const { origins, done, brought, know } = fixture();
    brought.add("a");
    know();
    await origins.start();
    done.length = 0;
    brought.delete("a");
    brought.add("b");
    origins.divide();
    assert.deepEqual(done, ["tells a", "brings b", "begins a"]);
    done.length = 0;
    origins.divide();
    assert.deepEqual(done, ["tells a", "brings b"]);
  });

  test("take a configuration with the next start", async () => {
    const { origins, done, know } = fixture();
    know();
    await origins.start();
    done.length = 0;
    origins.configure(configOf({ clusters: [clusterOf({ name: "c" })] }));
    assert.deepEqual([done, origins.isProbed("c"), origins.isProbed("a")], [[], true, false]);
    await origins.start();
    assert.deepEqual(done, ["tells c", "probes c", "brings "]);
  });

  test("begin nothing any more once they have stopped", async () => {
    const { origins, done, know } = fixture();
    const started = origins.start();
    origins.stop();
    know();
    await started;
    origins.divide();
    await origins.start();
    assert.deepEqual(done, ["stops probes"]);
  });
});
