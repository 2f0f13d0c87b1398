import { Chance } from "../chance.ts";
import { type Profile, profiles } from "../profile.ts";
import { Asker } from "../rolecall/asker.ts";
import { Child } from "../rolecall/child.ts";
import { Stalls } from "../rolecall/stalls.ts";
import { Cluster } from "./cluster.ts";
import type { Shape } from "./model-cluster.ts";
import { begin } from "./faults.ts";
import { Episode } from "./episode.ts";
import { Report, Tally } from "./report.ts";
import { Rounds } from "./rounds.ts";
import { nameOf } from "./fault-name.ts";
import { kindsOf, opening, scenario } from "./scenario.ts";

/** The options of a run. */
export interface Options {
  readonly seed: number;
  readonly minutes: number;
  readonly clusters: number;
  readonly dist: string;
  readonly workers: number;
  readonly profile: Profile["name"];
  /** `generation/cluster/episode`: that one alone, `times` times. */
  readonly only: string | null;
  readonly times: number;
  /** The kinds of faults to draw from, with commas; null: all. */
  readonly kinds: string | null;
  /** Whether every episode's events are written down. */
  readonly isTraced: boolean;
  readonly write: (text: string) => void;
}

/** How long one rolecall and its clusters live before new ones take their place, in minutes. */
const generationMinutes = { scaled: 4, half: 6, default: 12 } as const;

/** A whole run: generations of clusters, each watched by a rolecall of its own. */
export class Campaign {
  readonly #tally = new Tally();
  readonly #startMs = performance.now();
  #isStopped = false;

  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Ends the run after what is under way. */
  stop(): void {
    this.#isStopped = true;
  }

  /** Runs for the given time; true when no promise was broken. */
  async run(): Promise<boolean> {
    const { minutes, only, seed, write, workers, profile, clusters, dist } = this.#options;
    write(
      `campaign: seed ${seed}, ${minutes} min, ${clusters} clusters, workers ${workers}, profile ${profile}, ${dist}\n`,
    );
    const endMs = performance.now() + minutes * 60_000;
    const first = only === null ? 0 : Number(only.split("/")[0]);
    for (let generation = first; performance.now() < endMs && !this.#isStopped; generation += 1) {
      await this.#generation(generation, Math.min(endMs, performance.now() + generationMinutes[profile] * 60_000));
      if (only !== null) break;
    }
    return this.#summary();
  }

  async #generation(generation: number, endMs: number): Promise<void> {
    const now = (): number => performance.now();
    const stalls = new Stalls(now);
    stalls.start();
    const { seed, clusters: count, only, dist, workers } = this.#options;
    const profile = profiles[this.#options.profile];
    const wanted = only === null ? null : Number(only.split("/")[1]);
    const clusters = Array.from({ length: count }, (_, index) => index)
      .filter((index) => wanted === null || index === wanted)
      .map((index) => {
        const chance = new Chance(seed * 7_919 + generation * 131 + index);
        return new Cluster(shapeOf(chance, index), profile, {
          chance: chance.fork(1),
          now,
          stalls,
          armed: this.#tally.armed,
        });
      });
    await Promise.all(clusters.map((cluster) => cluster.open()));
    const warmUp = setInterval(() => {
      for (const cluster of clusters) void cluster.tick(now());
    }, 20);
    const openings = new Map(clusters.map((cluster) => [cluster, this.#open(cluster, generation, now)]));
    const child = new Child({ dist, profile, workers, clusters: clusters.map(({ watched }) => watched) });
    const ports = await child.ports();
    await new Promise((resolve) => void setTimeout(resolve, profile.clusterMs * 2 + profile.maxAgeMs));
    clearInterval(warmUp);
    const pulse = new Asker(ports.admin, now);
    const watch = this.#watch(pulse, stalls, now);
    await Promise.all(
      clusters.map((cluster) =>
        this.#live(cluster, { child, ports, generation, endMs, now, opening: openings.get(cluster) ?? [] }),
      ),
    );
    clearInterval(watch);
    pulse.close();
    if (child.end !== null) this.#died(child, generation);
    await child.stop();
    await Promise.all(clusters.map((cluster) => cluster.close()));
    stalls.stop();
    this.#options.write(
      `generation ${generation}: the machine stood still ${stalls.count} times, ${Math.round(stalls.totalMs)} ms in all; ` +
        `bounds widened ${stalls.widened} times, ${stalls.excused} answers excused\n`,
    );
  }

  /** Applies some faults to a cluster before rolecall starts. */
  #open(cluster: Cluster, generation: number, now: () => number): readonly string[] {
    const chance = new Chance(this.#options.seed * 15_485_863 + generation * 10_007 + cluster.shape.index);
    const faults = opening(chance, cluster.profile, cluster.shape.size);
    for (const fault of faults) begin(cluster, fault, now());
    return faults.map((fault) => `before the start: ${nameOf(fault)}`);
  }

  /** Measures how late the machine schedules rolecall: a stall of the machine is not rolecall's fault. */
  #watch(pulse: Asker, stalls: Stalls, now: () => number): NodeJS.Timeout {
    let isWaiting = false;
    const beat = async (): Promise<void> => {
      isWaiting = true;
      const askedMs = now();
      try {
        await pulse.ask([{ method: "GET", path: "/livez", node: null, check: "/livez" }]);
      } finally {
        isWaiting = false;
      }
      if (now() - askedMs > 60) stalls.note(askedMs, now());
    };
    return setInterval(() => {
      // Another check detects the exit of rolecall.
      if (!isWaiting) beat().catch(() => undefined);
    }, 50);
  }

  async #live(
    cluster: Cluster,
    run: {
      readonly child: Child;
      readonly ports: Ports;
      readonly generation: number;
      readonly endMs: number;
      readonly now: () => number;
      readonly opening: readonly string[];
    },
  ): Promise<void> {
    const { seed, only, times, write, clusters, workers, profile, kinds } = this.#options;
    const { child, ports, generation, endMs, now } = run;
    const asker = new Asker(ports.health, now);
    const operator = new Asker(ports.admin, now);
    const rounds = new Rounds(cluster, asker, operator, now);
    const isOver = (): boolean => child.end !== null || this.#isStopped;
    const { index, size } = cluster.shape;
    const turns = only === null ? Infinity : times;
    for (let turn = 0; turn < turns && now() < endMs && !isOver(); turn += 1) {
      const episode = only === null ? turn : Number(only.split("/")[2]);
      const chance = new Chance(seed * 104_729 + generation * 10_007 + index * 101 + episode);
      const faults = scenario(chance, cluster.profile, { size, kinds: kindsOf(kinds) });
      const label = `${generation}/${index}/${episode}`;
      const command = `npm run campaign -- --live --seed ${seed} --clusters ${clusters} --workers ${workers} --profile ${profile}${kinds === null ? "" : ` --kinds ${kinds}`} --only ${label} --times 5`;
      const names = [...(turn === 0 ? run.opening : []), ...faults.map(nameOf)];
      const report = new Report({ label, command, faults: names }, now(), this.#tally, write);
      await new Episode({ cluster, rounds, report, now, isOver }, faults).run();
      if (this.#options.isTraced) write(report.trace());
      report.end();
      const moved = cluster.world.nodes.filter(({ name }) => cluster.isMoved(name, now())).map(({ name }) => name);
      if (moved.length > 0) {
        write(
          `${label}: rolecall goes on with a clone in place of ${moved.join()}: this cluster ends with this generation\n`,
        );
        this.#tally.movedClusters += 1;
        break;
      }
    }
    const restMs = only === null ? endMs : now();
    while (now() < restMs && !isOver()) {
      await cluster.tick(now());
      await new Promise((resolve) => void setTimeout(resolve, 20));
    }
    asker.close();
    operator.close();
  }

  #died(child: Child, generation: number): void {
    this.#tally.broken.set("alive", [...(this.#tally.broken.get("alive") ?? []), String(generation)]);
    this.#options.write(`VIOLATION alive: rolecall ended with ${child.end}\n${child.log(20).join("\n")}\n`);
  }

  #summary(): boolean {
    const { episodes, answers, broken, recoveredMs } = this.#tally;
    const sorted = recoveredMs.toSorted((one, two) => one - two);
    const minutes = ((performance.now() - this.#startMs) / 60_000).toFixed(1);
    this.#options.write(
      `${episodes} episodes, ${answers} answers in ${minutes} min; recovery: middle ${Math.round(sorted[sorted.length >> 1] ?? 0)} ms, `,
    );
    this.#options.write(`longest ${Math.round(sorted.at(-1) ?? 0)} ms\n`);
    if (this.#tally.movedClusters > 0) this.#options.write(`clusters left to a clone: ${this.#tally.movedClusters}\n`);
    const armed = [...this.#tally.armed].map(([rule, count]) => `${rule} ${count}`).join(", ");
    this.#options.write(`promises that had to hold, answers each: ${armed}\n`);
    for (const [rule, places] of broken)
      this.#options.write(`  ${rule}: ${places.length} episodes: ${places.slice(0, 20).join(" ")}\n`);
    this.#options.write(broken.size === 0 ? "no promise was broken\n" : `${broken.size} promises were broken\n`);
    return broken.size === 0;
  }
}

interface Ports {
  readonly health: number;
  readonly admin: number;
}

function shapeOf(chance: Chance, index: number): Shape {
  return {
    index,
    size: chance.weighted({ two: 2, three: 5, four: 2 }) === "two" ? 2 : chance.pick([3, 3, 4]),
    generation: chance.happens(0.3) ? 3 : 4,
    isDiscovered: chance.happens(0.4),
    walRate: 200_000,
    mode: "plain",
    surviveMs: 0,
  };
}
