import type { DcsResult } from "../../../src/core/cluster/dcs.ts";
import type { DcsChange, DcsSource, DcsWatch } from "../../../src/core/dcs/dcs-source.ts";
import type { WatchEnd } from "../../../src/core/etcd/etcd-messages.ts";
import type { Chance } from "../chance.ts";
import type { World } from "../world/world.ts";
import type { SeenTime, VirtualTime } from "./virtual-time.ts";

/** The deadline of a request to the DCS, in ms. */
const timeoutMs = 1_500;
const memberCount = 3;

interface Watcher {
  readonly time: SeenTime;
  readonly member: number;
  readonly onChange: (change: DcsChange) => void;
  readonly end: (end: WatchEnd) => void;
}

/** The three members of the DCS of one modelled cluster, as rolecall reaches them. */
export class VirtualDcs {
  /** Members that are down: they refuse. */
  readonly down = new Set<number>();
  /** Members without a quorum: linearizable reads hang, and watches are silent. */
  readonly isolated = new Set<number>();
  /** What happens to events: lost, or late by this time in ms. */
  events: { readonly kind: "lost" } | { readonly kind: "late"; readonly ms: number } | null = null;
  /** Called with the leader of each read that reaches rolecall. */
  onRead: (leader: string | null, sentMs: number) => void = () => {};
  readonly #watchers = new Set<Watcher>();
  readonly #world: World;
  readonly #time: VirtualTime;
  readonly #chance: Chance;
  #revision = 100;
  #leader: string | null;

  constructor(world: World, time: VirtualTime, chance: Chance) {
    this.#world = world;
    this.#time = time;
    this.#chance = chance;
    this.#leader = world.holder(time.nowMs);
  }

  /** Whether a member does not answer. */
  get isDisturbed(): boolean {
    return this.down.size + this.isolated.size > 0;
  }

  /** Looks for a change of the leader key. To be called with every tick of the model. */
  tick(): void {
    for (const watcher of this.#watchers)
      if (this.down.has(watcher.member)) this.#end(watcher, { cause: "closed", detail: "etcd ended the response" });
    const leader = this.#world.holder(this.#time.nowMs);
    if (leader === this.#leader) return;
    this.#leader = leader;
    this.#revision += 1;
    for (const watcher of this.#watchers) this.#announce(watcher, leader);
  }

  /** Opens the DCS as rolecall does. @param time that of the process */
  open(time: SeenTime = this.#time): DcsSource {
    let at = 0;
    const own = new Set<Watcher>();
    return {
      serverCount: memberCount,
      read: async () => {
        const result = await this.#read(at, time);
        if ("failure" in result) at = (at + 1) % memberCount;
        return result;
      },
      isChangePending: () => Promise.resolve(null),
      watch: (_, onChange) => this.#watch({ member: at, time, onChange }, own),
      close: () => {
        for (const watcher of own) this.#watchers.delete(watcher);
      },
    };
  }

  #announce(watcher: Watcher, names: string | null): void {
    if (this.isolated.has(watcher.member) || this.#world.dcs.isDown) return;
    if (this.events?.kind === "lost") return;
    const lateMs = this.events?.kind === "late" ? this.events.ms * this.#chance.next() : 0;
    watcher.time.after("delivery", lateMs + this.#latencyMs(), () => {
      if (this.#watchers.has(watcher)) watcher.onChange({ kind: "leader", names });
    });
  }

  #end(watcher: Watcher, end: WatchEnd): void {
    this.#watchers.delete(watcher);
    watcher.time.after("delivery", this.#latencyMs(), () => watcher.end(end));
  }

  #read(member: number, time: SeenTime): Promise<DcsResult> {
    const sentMs = this.#time.nowMs;
    return new Promise((resolve) => {
      const fail = (kind: "refused" | "timeout", delayMs: number): void => {
        const failure = { kind, detail: `etcd: ${kind}` };
        time.after(kind === "timeout" ? "timer" : "delivery", delayMs, () => resolve({ failure }));
      };
      if (this.down.has(member)) return fail("refused", this.#latencyMs());
      this.#time.after("world", this.#latencyMs(), () => {
        if (this.isolated.has(member) || this.#world.dcs.isDown) return fail("timeout", timeoutMs);
        const read = { leader: this.#leader, source: "etcd 1 leader", revision: this.#revision, hasScope: true };
        time.after("delivery", this.#latencyMs(), () => {
          this.onRead(read.leader, sentMs);
          resolve({ read });
        });
      });
    });
  }

  #watch(about: Pick<Watcher, "member" | "time" | "onChange">, own: Set<Watcher>): DcsWatch {
    let end: (end: WatchEnd) => void = () => {};
    const ended = new Promise<WatchEnd>((resolve) => {
      end = resolve;
    });
    const watcher: Watcher = { ...about, end };
    this.#watchers.add(watcher);
    own.add(watcher);
    return {
      ended,
      cancel: () => {
        this.#watchers.delete(watcher);
        own.delete(watcher);
      },
    };
  }

  #latencyMs(): number {
    return 0.3 + 2 * this.#chance.next();
  }
}
