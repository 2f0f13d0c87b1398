import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { noPast } from "../../../../src/core/events/stored/past.ts";
import { pino } from "pino";
import { parse } from "yaml";
import type { LagLimit } from "../../../../src/core/cluster/lag-limit.ts";
import { noDiskFigures } from "../../../../src/core/cluster/exporter/exporter-report.ts";
import { askedChecks } from "../../../../src/core/health/rules/asked-checks.ts";
import { EventDetector } from "../../../../src/core/events/detection/event-detector.ts";
import { EventLog } from "../../../../src/core/events/event-log.ts";
import { ClusterFixture } from "../../../fake/cluster-fixture.ts";
import { primaryPage } from "../../../fake/exporter-page.ts";
import type { StatusFields } from "../../../fake/node-documents.ts";

/**
 * What a node does from some second on: `behind` is how old its data is, in ms, and `loop` how often it reaches the DCS,
 * in seconds. Other keys are fields of its status document.
 */
type Behavior =
  | string
  | ({
      readonly is: string;
      readonly frozen?: boolean;
      readonly behind?: number;
      readonly loop?: number;
    } & StatusFields);

interface Story {
  readonly title: string;
  readonly until: number;
  /** Whom the leader key in a watched DCS names at some second; `null` for nobody, or `unreadable`. */
  readonly dcs?: Readonly<Record<string, string | null>>;
  /** The dynamic configuration that is read at some second. */
  readonly config?: Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** The seconds at which a switchover is forwarded. */
  readonly calls?: readonly number[];
  /** The checks with a limit for lag that balancers ask. */
  readonly asked?: readonly { readonly lag_bytes: number; readonly keep?: number }[];
  /** The second for which a switchover is scheduled, by the second from which on the cluster document has it. */
  readonly scheduled?: Readonly<Record<string, number>>;
  /** Whether the loop of pg1's Patroni runs, as its `/liveness` says at some second. */
  readonly alive?: Readonly<Record<string, boolean>>;
  /** The sessions that wait for WAL on the page of pg1's exporter that is requested at some second. */
  readonly waits?: Readonly<Record<string, number>>;
  readonly nodes: Readonly<Record<string, Readonly<Record<string, Behavior>>>>;
  readonly events: readonly string[];
}

const folder = "test/spec/events";
/** The time between the probes of two nodes in one round, in ms. */
const staggerMs = 100;

/** Bytes of WAL that the cluster has written at an instant. */
function positionAt(ms: number): number {
  return 1_000_000 + ms;
}

function configuredLimit({ lag_bytes, keep = 0 }: { readonly lag_bytes: number; readonly keep?: number }): LagLimit {
  const none = { lag_ms: null, fallback_primary: false, requested_ms_ago: null, requested_for_ms: null };
  return { route: "replica", lag_bytes, keep, source: "defaults", of: "127.0.0.1:8008", ...none };
}

class StoryPlayer {
  readonly lines: { readonly event?: string; readonly level: number; readonly msg: string }[] = [];
  readonly eventLog: EventLog;
  readonly #watched: ClusterFixture;
  readonly #frozenAtMs = new Map<string, number>();
  #nowMs = 0;

  constructor(nodes: readonly string[], { dcs: leaders, asked = [] }: Pick<Story, "dcs" | "asked">) {
    const dcs = { etcd: ["http://127.0.0.1:2379"], prefix: "/service", scope: null, tls: null, auth: null };
    this.#watched = new ClusterFixture({ nodes, cluster: { dcs: leaders === undefined ? null : dcs } });
    const log = pino({ base: null }, { write: (line: string) => void this.lines.push(JSON.parse(line)) });
    this.eventLog = new EventLog({
      log,
      metrics: { disputed: () => {}, happened: () => {} },
      detector: new EventDetector({ asked: () => askedChecks(asked.map(configuredLimit)) }),
      clock: { now: () => this.#nowMs, wall: () => this.#nowMs },
      history: () => noPast,
    });
  }

  play({
    nodes,
    until,
    dcs = {},
    config = {},
    calls = [],
    scheduled = {},
    alive = {},
    waits = {},
  }: Omit<Story, "title" | "events">): readonly string[] {
    let behaviors: Readonly<Record<string, Behavior>> = {};
    for (let second = 0; second <= until; second += 1) {
      behaviors = { ...behaviors, ...nodes[second] };
      for (const [at, [node, behavior]] of Object.entries(behaviors).entries())
        this.#probe(node, behavior, second * 1_000 + at * staggerMs);
      if (calls.includes(second))
        this.eventLog.recordCall({ cluster: "demo", call: "switchover", from: "pg1", to: "pg2", by: "ann" });
      const plannedFor = scheduled[second];
      if (plannedFor !== undefined) this.#schedule(plannedFor, second * 1_000 + 600);
      const settings = config[second];
      if (settings !== undefined)
        this.#watched.document("config", { of: "pg2", value: settings }, second * 1_000 + 400);
      const isAlive = alive[second];
      if (isAlive !== undefined)
        this.#changed(second * 1_000 + 700, (nowMs) => this.#watched.recordLiveness("pg1", isAlive, nowMs));
      const waiting = waits[second];
      if (waiting !== undefined) this.#changed(second * 1_000 + 800, (nowMs) => this.#page(waiting, nowMs));
      const leader = dcs[second];
      if (leader !== undefined) this.#read(leader, second * 1_000 + 500);
    }
    return this.eventLog.events
      .recent()
      .map(({ at, kind, severity, node, message }) => `${at / 1000} ${kind} ${severity} ${node ?? "-"}: ${message}`);
  }

  #schedule(second: number, nowMs: number): void {
    const watched = this.#watched;
    const before = watched.cluster;
    this.#nowMs = nowMs;
    const members = ["pg1", "pg2", "pg3"].map((name) => {
      const role = name === "pg1" ? "leader" : "replica";
      return { name, role, state: "running", api_url: `http://${name}:8008/patroni`, timeline: 1 };
    });
    const plan = { at: new Date(second * 1_000).toISOString(), from: "pg1" };
    watched.document("cluster", { of: "pg2", value: { scope: "demo", members, scheduled_switchover: plan } }, nowMs);
    this.eventLog.recordTransition(before, watched.cluster, { policy: watched.policy, nowMs });
  }

  #read(leader: string | null, nowMs: number): void {
    this.#changed(nowMs, () => this.#watched.readDcs(leader, nowMs));
  }

  #page(walWaits: number, nowMs: number): void {
    const written = positionAt(this.#frozenAtMs.get("pg1") ?? nowMs);
    const page = { ...primaryPage, written, disk: { ...noDiskFigures, walWaits } };
    this.#watched.record(
      {
        kind: "exporter",
        cluster: "demo",
        node: "pg1",
        sentAtMs: nowMs,
        sentAtWallMs: nowMs,
        result: { endpoint: "metrics", page },
      },
      nowMs,
    );
  }

  #changed(nowMs: number, change: (nowMs: number) => void): void {
    const watched = this.#watched;
    const before = watched.cluster;
    this.#nowMs = nowMs;
    change(nowMs);
    this.eventLog.recordTransition(before, watched.cluster, { policy: watched.policy, nowMs });
  }

  #probe(node: string, behavior: Behavior, nowMs: number): void {
    const {
      is,
      frozen = false,
      behind = 0,
      loop,
      ...stated
    } = typeof behavior === "string" ? { is: behavior } : behavior;
    const looped = loop === undefined ? {} : { dcs_last_seen: 1_000 + Math.floor(nowMs / 1_000 / loop) * loop };
    const fields = { ...looped, ...stated };
    const watched = this.#watched;
    const before = watched.cluster;
    this.#nowMs = nowMs;
    if (!frozen) this.#frozenAtMs.set(node, nowMs);
    const position = positionAt((this.#frozenAtMs.get(node) ?? nowMs) - behind);
    if (is === "leads") watched.lead(node, nowMs, { xlog: { location: position }, ...fields });
    else if (is === "follows")
      watched.follow(node, nowMs, { xlog: { received_location: position, replayed_location: position }, ...fields });
    else if (is === "refused" || is === "timeout") watched.fail(node, is, nowMs);
    else throw new Error(`Cannot play ${is}: a node leads, follows, is refused or has a timeout`);
    this.eventLog.recordTransition(before, watched.cluster, { policy: watched.policy, nowMs });
  }
}

for (const file of readdirSync(folder)) {
  describe(`events of ${folder}/${file}`, () => {
    for (const story of parse(readFileSync(`${folder}/${file}`, "utf8")) as readonly Story[]) {
      test(story.title, () => {
        const player = new StoryPlayer(["pg1", "pg2", "pg3"], story);
        assert.deepEqual(player.play(story), story.events);
        const levels = { info: 30, warning: 40, error: 50 };
        assert.deepEqual(
          player.lines.filter(({ event }) => event !== undefined).map(({ level, msg }) => [level, msg]),
          player.eventLog.events.recent().map(({ severity, message }) => [levels[severity], message]),
          "each event has one log line at the level of its severity",
        );
      });
    }
  });
}
