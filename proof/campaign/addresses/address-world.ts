import type { Chance } from "../chance.ts";
import type { Profile } from "../profile.ts";
import { epochMs } from "../sim/machine.ts";
import type { Address } from "../sim/virtual-network.ts";
import { Evidence } from "../wire/evidence.ts";
import { Seat } from "../wire/seat.ts";
import { isManaging, type ModelNode } from "../world/node.ts";
import { World } from "../world/world.ts";
import { type AddressEvent, type AddressPlan, cloneHostOf, hostOf, type Seed, sideServers } from "./address-plan.ts";
import { HostileSeat } from "./hostile-seat.ts";

const port = 8008;
const system = "7710496888167158100";

/** The servers of a run: members, what is configured, and hostile ones. It knows which server is which member. */
export class AddressWorld {
  readonly plan: AddressPlan;
  readonly world: World;
  readonly seats: readonly Seat[];
  readonly #clones: World;
  /** Servers that stay at their addresses, and are no members. */
  readonly #others = new Map<string, Seat>();
  readonly #evidence = new Map<string, Evidence>();
  readonly #profile: Profile;
  readonly #chance: Chance;
  readonly #undo: { readonly atMs: number; readonly run: () => void }[] = [];
  #events: readonly AddressEvent[];
  #moves = 0;
  #nowMs = 0;
  /** When a member's address changed last, in ms. */
  movedMs = -Infinity;
  /** When the DCS was down last, in ms. */
  dcsDownMs = -Infinity;

  constructor(plan: AddressPlan, profile: Profile, chance: Chance) {
    this.plan = plan;
    this.#events = plan.events;
    this.#profile = profile;
    this.#chance = chance;
    const members = Array.from({ length: plan.size }, (_, member) => member);
    const build = (scope: string, hosts: readonly string[]): World => {
      const common = { system, profile, generation: plan.generation, nowMs: 0, epochMs };
      const built = new World({ ...common, scope, hosts, chance: chance.fork(hosts.length) });
      for (const node of built.nodes) node.port = port;
      return built;
    };
    this.world = build(
      "c1",
      members.map((member) => hostOf(0, member)),
    );
    this.seats = this.world.nodes.map((node) => new Seat(this.world, node));
    this.#clones = build("c1", members.map(cloneHostOf));
    for (const node of this.#clones.nodes) this.#others.set(originOf(node), new Seat(this.#clones, node));
    const stranger = build("stranger", ["10.88.0.1"]);
    const sides = Array.from({ length: sideServers }, (_, at) => `http://10.66.0.${at + 1}:${port}`);
    const [first, ...rest] = plan.lies;
    for (const { kind, origin } of plan.seeds) {
      const [node] = stranger.nodes;
      if (kind === "stranger" && node !== undefined) this.#others.set(origin, new Seat(stranger, node));
      if (kind === "hostile" && first !== undefined)
        this.#others.set(origin, new HostileSeat(this.world, { origin, lies: first }, sides));
    }
    for (const [at, origin] of sides.entries()) {
      const lies = rest[at];
      if (lies !== undefined) this.#others.set(origin, new HostileSeat(this.world, { origin, lies }, sides));
    }
  }

  /** Moves everything to an instant. */
  tick(nowMs: number): void {
    this.#nowMs = nowMs;
    for (const event of this.#events) if (event.atMs <= nowMs) this.#begin(event);
    this.#events = this.#events.filter(({ atMs }) => atMs > nowMs);
    for (const { atMs, run } of this.#undo) if (atMs <= nowMs) run();
    this.#undo.splice(0, Infinity, ...this.#undo.filter(({ atMs }) => atMs > nowMs));
    if (this.world.dcs.isDown) this.dcsDownMs = nowMs;
    this.world.tick(nowMs);
    this.#clones.tick(nowMs);
  }

  /** What answers at an address now; undefined if nothing does. */
  get(origin: string): Address | undefined {
    const seat = this.#seatAt(origin);
    return seat === undefined ? undefined : { seat, evidence: this.evidenceAt(origin) };
  }

  /** The requests to an address. */
  evidenceAt(origin: string): Evidence {
    let evidence = this.#evidence.get(origin);
    if (evidence === undefined) this.#evidence.set(origin, (evidence = new Evidence(this.#profile, "c1")));
    return evidence;
  }

  /** The present address of a member; behind NAT the configured one. */
  trueOrigin(member: string): string {
    const at = this.world.nodes.findIndex(({ name }) => name === member);
    const behind = this.plan.isBehindNat ? this.plan.seeds.find((seed) => seed.member === at) : undefined;
    if (behind !== undefined) return behind.origin;
    return originOf(this.world.node(member));
  }

  /** Whether a hostile server or a clone answers at a configured address. */
  get isAttacked(): boolean {
    return this.plan.seeds.some(
      ({ kind, origin }) => (kind === "hostile" || kind === "clone") && this.#seatAt(origin) !== undefined,
    );
  }

  /** The servers that are no members, by address. */
  get strangers(): ReadonlyMap<string, Seat> {
    return this.#others;
  }

  /** The member that a configured address leads to now, and that answers and gives a list; null if there is none. */
  soundSeat(seed: Seed): Seat | null {
    const { nodes } = this.world;
    const isSound = (seat: Seat | undefined): seat is Seat =>
      seat !== undefined && nodes.includes(seat.node) && answers(seat) && this.world.reaches(seat.node);
    if (this.#nowMs < seed.silentUntilMs) return null;
    if (seed.kind === "service") return this.#served(seed).find(isSound) ?? null;
    const seat = this.#seatAt(seed.origin);
    return isSound(seat) ? seat : null;
  }

  #seatAt(origin: string): Seat | undefined {
    const seed = this.plan.seeds.find((one) => one.origin === origin);
    if (seed !== undefined && this.#nowMs < seed.silentUntilMs) return undefined;
    if (seed?.kind === "name") return this.seats[seed.member];
    if (this.plan.isBehindNat) return undefined;
    if (seed?.kind === "service") {
      const served = this.#served(seed);
      return served.length === 0 ? undefined : this.#chance.pick(served);
    }
    const other = this.#others.get(origin);
    if (other !== undefined) return this.#isOn(other) ? other : undefined;
    return this.seats.find(({ node }) => originOf(node) === origin);
  }

  /** The members that a Service leads to. */
  #served({ serves }: Seed): readonly Seat[] {
    const { world } = this;
    const holder = world.holder(this.#nowMs);
    return this.seats.filter(
      (seat) => answers(seat) && (serves === "any" || (seat.node.name === holder) === (serves === "leader")),
    );
  }

  #isOn(seat: Seat): boolean {
    const { fromMs, untilMs } = this.plan.hostile;
    return !(seat instanceof HostileSeat) || (this.#nowMs >= fromMs && this.#nowMs < untilMs);
  }

  #begin({ kind, atMs, forMs, member }: AddressEvent): void {
    const { world, seats } = this;
    const seat = seats[member];
    if (seat === undefined) return;
    const until = (run: () => void): void => void this.#undo.push({ atMs: atMs + forMs, run });
    switch (kind) {
      case "move":
      case "moveAll":
        this.#moves += 1;
        return this.#readdress((at) => (kind === "moveAll" || at === member ? hostOf(this.#moves, at) : null));
      case "permute": {
        const hosts = seats.map(({ node }) => node.host);
        return this.#readdress((at) => hosts[(at + 1) % hosts.length] ?? null);
      }
      case "dcsDown":
        world.dcs.isDown = true;
        return until(() => (world.dcs.isDown = false));
      case "halt":
        seat.node.isHalted = true;
        return until(() => (seat.node.isHalted = false));
      case "unreachable":
        seat.mask.isUnreachable = true;
        return until(() => (seat.mask.isUnreachable = false));
      case "switchover":
        if (seat.node.isStreaming && world.holding?.name !== seat.node.name) world.dcs.switchover = seat.node.name;
    }
  }

  #readdress(hostAt: (member: number) => string | null): void {
    for (const [at, { node }] of this.seats.entries()) Object.assign(node, { host: hostAt(at) ?? node.host });
    this.movedMs = this.#nowMs;
  }
}

/** Whether a server answers requests at once. */
export function answers({ node, mask }: Seat): boolean {
  return node.isUp && isManaging(node) && !mask.isUnreachable;
}

function originOf({ host }: ModelNode): string {
  return `http://${host}:${port}`;
}
