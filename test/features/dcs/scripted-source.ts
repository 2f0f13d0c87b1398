import type { TestContext } from "node:test";
import type { DcsResult } from "../../../src/core/cluster/dcs.ts";
import type { DcsChange, DcsSource, DcsWatch } from "../../../src/core/dcs/dcs-source.ts";
import { ScopeWatcher } from "../../../src/features/dcs/scope-watcher.ts";

/** A DCS whose leader key a test sets. Reads are answered at once; the test announces changes. */
export class ScriptedSource implements DcsSource {
  readonly serverCount: number;
  leader: string | null = "pg1";
  isDown = false;
  /** When each read came, in ms of the mocked clock. */
  readonly readsMs: number[] = [];
  watches = 0;
  announce: (change: DcsChange) => void = () => {};
  readonly #now: () => number;
  #revision = 1;

  constructor(now: () => number, serverCount = 1) {
    this.#now = now;
    this.serverCount = serverCount;
  }

  async read(): Promise<DcsResult> {
    this.readsMs.push(this.#now());
    if (this.isDown) return { failure: { kind: "timeout", detail: "an injected timeout" } };
    this.#revision += 1;
    return { read: { leader: this.leader, source: "scripted", revision: this.#revision, hasScope: true } };
  }

  async isChangePending(): Promise<boolean | null> {
    return null;
  }

  watch(_: number, onChange: (change: DcsChange) => void): DcsWatch {
    this.watches += 1;
    this.announce = onChange;
    return { ended: new Promise(() => {}), cancel: () => {} };
  }

  close(): void {}
}

/** A watcher of a scripted source, on a mocked clock. */
export interface ScriptedWatch {
  readonly source: ScriptedSource;
  /** The leader of each read that was reported; the kind of a failure. */
  readonly results: string[];
  readonly ends: string[];
  /** Lets time pass, in ms. */
  readonly pass: (ms: number) => Promise<void>;
}

export async function scriptedWatch(context: TestContext, serverCount = 1): Promise<ScriptedWatch> {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  let nowMs = 0;
  const now = (): number => nowMs;
  const source = new ScriptedSource(now, serverCount);
  const [results, ends] = [[] as string[], [] as string[]];
  const watcher = new ScopeWatcher(source, {
    now,
    random: () => 0.5,
    onResult: (result) => results.push("read" in result ? (result.read.leader ?? "nobody") : result.failure.kind),
    onHint: () => {},
    onRead: () => {},
    onWatchEnd: ({ cause }) => ends.push(cause),
  });
  context.after(() => watcher.stop());
  const pass = async (ms: number): Promise<void> => {
    for (let passed = 0; passed < ms; passed += 1) {
      nowMs += 1;
      context.mock.timers.tick(1);
      for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
    }
  };
  watcher.start();
  await pass(1);
  return { source, results, ends, pass };
}
