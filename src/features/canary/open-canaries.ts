import { hostname } from "node:os";
import { HostAddresses } from "../../core/balancing/host-addresses.ts";
import type { Config } from "../../core/config/model/config.ts";
import type { Host, Opened } from "../../core/feature/feature.ts";
import type { Scope } from "../../core/feature/scope.ts";
import { Canaries, type MakeTry } from "./canaries.ts";
import type { KnownCanary } from "./core/canary.ts";
import type { DocumentInstant } from "./core/canary-text.ts";
import { tryCanary } from "./canary-try.ts";
import { FailureCodes } from "./failure-codes.ts";
import { reachedNode, systemOf } from "./reached-node.ts";

/** The canaries in a process. */
export interface RunningCanaries extends Opened {
  /** What is known of all canaries, or of those of one cluster. */
  readonly known: (cluster?: string) => readonly KnownCanary[];
  readonly instant: () => DocumentInstant;
}

/**
 * Tries the canaries of the configuration until the scope ends, or the process begins to stop.
 * @param makeTry replaced by tests
 */
export function openCanaries(host: CanaryHost, scope: CanaryScope, makeTry: MakeTry = tryCanary): RunningCanaries {
  const { now, wall, random, cluster, metrics, changed, contained } = host;
  const hosts = new HostAddresses(now);
  const codes = new FailureCodes();
  const canaries = new Canaries({
    now,
    random,
    scope,
    instanceOf,
    makeTry,
    systemOf: (name) => {
      const state = cluster(name);
      return state === undefined ? null : systemOf(state);
    },
    nodeOf: (name, server) => {
      const state = cluster(name);
      return state === undefined ? null : reachedNode(state, server, (one) => hosts.resolved(one).ips);
    },
    onTried: ({ cluster: name, pool, kind, state }) => {
      const labels = { cluster: name, pool, kind };
      if (state.phase === "passed") metrics.observe("canarySeconds", labels, state.tookMs);
      if (state.phase === "failed")
        metrics.count("canaryFailures", { ...labels, code: codes.labelOf(state.error.code) });
    },
    onChange: changed,
    onError: ({ pool, target }, error) => contained(error, { pool, target }),
  });
  scope.hold("the tries", () => canaries.stop());
  return {
    configure: (config) => canaries.configure(config),
    draining: () => canaries.stop(),
    known: (name) => canaries.known(name),
    instant: () => ({ nowMs: now(), wallMs: wall() }),
  };
}

/** What canaries need of their host. */
type CanaryHost = Pick<Host, "now" | "wall" | "random" | "cluster" | "metrics" | "changed" | "contained">;
type CanaryScope = Pick<Scope, "setTimer" | "hold" | "signal">;

/**
 * Names this rolecall in the table: its host and the port of its first listener, because several can run on a host. The
 * name of a run (`instance` of `/status`) would leave a row with each restart.
 */
function instanceOf({ listen }: Pick<Config, "listen">): string {
  const [first] = listen;
  return first === undefined ? hostname() : `${hostname()}:${first.port}`;
}
