import type { FastPathMode } from "../../config/model/config.ts";
import { FastPathMonitor } from "./fast-path-monitor.ts";
import { findNodeInternals } from "./node-internals.ts";
import { selfTest } from "./self-test.ts";
import { TcpIo } from "./tcp-io.ts";
import { isTriedVersion, triedVersions } from "./tried-versions.ts";

/** The settings of the fast path in one process. */
export interface FastPathSettings {
  /** The configured mode, as it is now. */
  readonly mode: () => FastPathMode;
  /**
   * Called with the reason when the fast path stays off although it is configured, and when it trips, which means that
   * it switches itself off because something unexpected happened.
   */
  readonly onDisabled: (reason: string) => void;
}

/** Decides whether this process may use the fast path, and counts what the fast path does. One for all listeners. */
export class FastPathControl {
  readonly monitor: FastPathMonitor;
  readonly #settings: FastPathSettings;
  readonly #version: string;
  readonly #reported = new Set<string>();
  #currentTest: Promise<TcpIo | null> | null = null;

  /** @param version the version of Node, such as `20.18.1` */
  constructor(settings: FastPathSettings, version: string = process.versions.node) {
    this.#settings = settings;
    this.#version = version;
    this.monitor = new FastPathMonitor((problem) =>
      settings.onDisabled(`tripped, all connections use node:http: ${problem}`),
    );
  }

  /**
   * Tests whether the fast path works in this process, by a request over loopback. Listeners that open at the same time
   * share one test. Reports why the fast path must stay off, each reason once. Never rejects.
   * @returns `null` if the fast path must stay off
   */
  runSelfTest(): Promise<TcpIo | null> {
    this.#currentTest ??= this.#runSelfTest().finally(() => {
      this.#currentTest = null;
    });
    return this.#currentTest;
  }

  /** Reports that the fast path stays off. Does not repeat a reason that was reported before. */
  stayOff(reason: string): null {
    if (this.#reported.has(reason)) return null;
    this.#reported.add(reason);
    this.#settings.onDisabled(reason);
    return null;
  }

  async #runSelfTest(): Promise<TcpIo | null> {
    const mode = this.#settings.mode();
    if (mode === false || this.monitor.isTripped) return null;
    if (mode !== "force" && !isTriedVersion(this.#version))
      return this.stayOff(
        `it was tried on Node ${triedVersions}, not on ${this.#version} (fast_path: force uses it nevertheless)`,
      );
    const internals = findNodeInternals();
    if ("problem" in internals) return this.stayOff(internals.problem);
    const io = new TcpIo(internals);
    const difference = await selfTest(io);
    return difference === null ? io : this.stayOff(`the self-test failed: ${difference}`);
  }
}
