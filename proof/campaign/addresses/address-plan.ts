import type { Chance } from "../chance.ts";
import type { Lies } from "./hostile-seat.ts";

/** One configured address (`discover`), and what it leads to. */
export interface Seed {
  readonly origin: string;
  /**
   * `own`: the first address of a member; `name`: a name that follows a member; `service`: any member that runs, its
   * leader or its replicas; `hostile`: a server that lies; `clone`: a node of a cluster with the same scope, system and
   * names; `stranger`: a node of another scope; `nobody`: nothing.
   */
  readonly kind: "own" | "name" | "service" | "hostile" | "clone" | "stranger" | "nobody";
  /** The member of `own` and `name`, by its index. */
  readonly member: number;
  readonly serves: "any" | "leader" | "replicas";
  /** How long the resolution of its name takes, in ms. */
  readonly resolvedMs: number;
  /** Nothing answers there before this instant, in ms. */
  readonly silentUntilMs: number;
}

/** What happens to the cluster in a run. Instants in ms. */
export interface AddressEvent {
  /**
   * `move`, `moveAll`: a member, or all, get new addresses; `permute`: they exchange theirs; `dcsDown`: the DCS is
   * down; `halt`: a machine is frozen; `unreachable`: rolecall does not reach a member; `switchover`: to a member.
   */
  readonly kind: "move" | "moveAll" | "permute" | "dcsDown" | "halt" | "unreachable" | "switchover";
  readonly atMs: number;
  readonly forMs: number;
  readonly member: number;
}

/** Everything that a run is made of. */
export interface AddressPlan {
  readonly size: number;
  /** Patroni 3.0.2 states no names. */
  readonly generation: 3 | 4;
  readonly seeds: readonly Seed[];
  readonly events: readonly AddressEvent[];
  /** What the hostile seed says, and each of the servers that it lists. */
  readonly lies: readonly Lies[];
  /**
   * Behind NAT: rolecall reaches members by the configured names alone, which follow them. What lists give never answers.
   */
  readonly isBehindNat: boolean;
  /** When hostile servers begin and end to answer, in ms. */
  readonly hostile: { readonly fromMs: number; readonly untilMs: number };
}

/** How long a run is, in ms. Events begin before its last part, which is calm. */
export const runMs = 150_000;
const eventsMs = 75_000;
/** How many hostile servers there are beside the seed: lists give their addresses. */
export const sideServers = 3;

const noSeeds = { own: 0, name: 0, service: 0, nobody: 0, stranger: 0 };
const seedKinds = { own: 5, name: 3, service: 4, nobody: 2, stranger: 2 };

/** Draws a run. */
export function addressPlan(chance: Chance): AddressPlan {
  const plan = drawnPlan(chance);
  // A stream of its own: the rest of a seed stays as it was.
  const nat = chance.fork(77);
  return nat.happens(0.15) ? behindNat(plan, nat) : plan;
}

/** Every member has a configured name, no server is hostile, and versions before 4 state no names: they are not found. */
function behindNat(plan: AddressPlan, chance: Chance): AddressPlan {
  const seeds = Array.from({ length: plan.size }, (_, member): Seed => ({
    origin: originOfSeed("name", member, member),
    kind: "name",
    member,
    serves: "any",
    resolvedMs: 0,
    silentUntilMs: chance.happens(0.2) ? chance.int(0, 9_000) : 0,
  }));
  return { ...plan, generation: 4, seeds, isBehindNat: true };
}

function drawnPlan(chance: Chance): AddressPlan {
  const size = chance.pick([2, 3, 3, 3, 4]);
  const isHostile = chance.happens(0.8);
  const seeds = seedsOf(chance, size, isHostile);
  const plot = chance.weighted({ "one name": 3, "all names": 3, exchange: 1, any: 3 });
  const lies = Array.from({ length: 1 + sideServers }, (_, at) => liesOf(chance, plot, { size, at }));
  const isLate = chance.happens(0.3);
  return {
    size,
    generation: chance.happens(0.3) ? 3 : 4,
    seeds,
    events: eventsOf(chance, size),
    lies,
    isBehindNat: false,
    hostile: {
      fromMs: isLate ? chance.int(0, eventsMs) : 0,
      untilMs: chance.happens(0.2) ? chance.int(10_000, eventsMs) : Infinity,
    },
  };
}

/** A plan in lines, for people. */
export function describeAddressPlan({
  size,
  generation,
  seeds,
  events,
  lies,
  isBehindNat,
  hostile,
}: AddressPlan): readonly string[] {
  const s = (ms: number): string => `${(ms / 1_000).toFixed(2)} s`;
  return [
    `cluster: ${size} nodes, Patroni ${generation}${isBehindNat ? ", behind NAT" : ""}; hostile servers from ${s(hostile.fromMs)} to ${s(hostile.untilMs)}`,
    ...seeds.map(({ origin, kind, member, serves, resolvedMs, silentUntilMs }) => {
      const leads =
        kind === "service" ? ` of ${serves}` : kind === "own" || kind === "name" ? ` of pg${member + 1}` : "";
      return ` ${origin}: ${kind}${leads}, resolved in ${resolvedMs} ms, silent until ${s(silentUntilMs)}`;
    }),
    ...events.map(({ kind, atMs, forMs, member }) => ` ${s(atMs)} for ${s(forMs)}: ${kind} pg${member + 1}`),
    ...lies.map((one) => ` lies: ${JSON.stringify(one)}`),
  ];
}

function seedsOf(chance: Chance, size: number, isHostile: boolean): readonly Seed[] {
  const how = chance.weighted({ members: 6, service: 1, any: 3 });
  const count = how === "service" ? 1 : chance.pick(how === "members" ? [2, 2, 3] : [1, 2, 3, 4]);
  const kinds = { members: { own: 2, name: 1 }, service: { service: 1 }, any: seedKinds }[how];
  const first = chance.int(0, size - 1);
  const drawn = Array.from({ length: count }, (_, at) => {
    const kind = chance.weighted<keyof typeof seedKinds>({ ...noSeeds, ...kinds });
    // Each address is that of another member, as an operator would write it.
    const member = how === "members" || chance.happens(0.5) ? (first + at) % size : chance.int(0, size - 1);
    return { kind, member };
  });
  const all = isHostile
    ? [...drawn, { kind: chance.happens(0.8) ? ("hostile" as const) : ("clone" as const), member: 0 }]
    : drawn;
  const isSlow = chance.happens(0.3);
  const isEarly = chance.happens(0.25);
  const seeds = all.map(({ kind, member }, at): Seed => {
    const isUnsound = kind === "hostile" || kind === "clone";
    return {
      origin: originOfSeed(kind, member, at),
      kind,
      member,
      serves: chance.pick(["any", "any", "leader", "replicas"]),
      resolvedMs: isSlow && !isUnsound ? chance.int(0, 2_400) : 0,
      silentUntilMs: isEarly && !isUnsound ? chance.int(0, 9_000) : 0,
    };
  });
  const unique = seeds.filter(({ origin }, at) => seeds.findIndex((other) => other.origin === origin) === at);
  // A hostile seed stands first, or anywhere.
  const from = chance.int(0, unique.length - 1);
  return [...unique.slice(from), ...unique.slice(0, from)];
}

function originOfSeed(kind: Seed["kind"], member: number, at: number): string {
  if (kind === "own") return `http://${hostOf(0, member)}:8008`;
  if (kind === "clone") return `http://${cloneHostOf(member)}:8008`;
  return kind === "name" ? `http://pg${member + 1}.db:8008` : `http://${kind}${at}.db:8008`;
}

/** The address of a member after so many changes. */
export function hostOf(generation: number, member: number): string {
  return `10.${generation}.0.${member + 1}`;
}

export function cloneHostOf(member: number): string {
  return `10.77.0.${member + 1}`;
}

function eventsOf(chance: Chance, size: number): readonly AddressEvent[] {
  const count = chance.int(0, 4);
  const kinds = { move: 2, moveAll: 2, permute: 2, dcsDown: 2, halt: 1, unreachable: 3, switchover: 1 };
  // Some are so before rolecall starts. In most runs the others come after it has found the members.
  const firstMs = chance.happens(0.3) ? 0 : 15_000;
  return Array.from({ length: count }, () => ({
    kind: chance.weighted(kinds),
    atMs: chance.happens(0.15) ? 0 : chance.int(firstMs, eventsMs),
    forMs: chance.int(1_000, 45_000),
    member: chance.int(0, size - 1),
  })).toSorted((one, other) => one.atMs - other.atMs);
}

/** What hostile servers are after; `any`: nothing in particular. */
type Plot = "one name" | "all names" | "exchange" | "any";

function liesOf(chance: Chance, plot: Plot, { size, at }: { readonly size: number; readonly at: number }): Lies {
  const members = Array.from({ length: size }, (_, member) => `pg${member + 1}`);
  const victim = at === 0 ? chance.pick(members) : (members[(at - 1) % size] ?? "pg1");
  const common = {
    claims: chance.happens(0.5),
    isOfOtherSystem: chance.happens(0.15),
    invented: chance.pick([0, 0, 3, 40, 300]),
    leader: chance.pick([...members, "evil", null]),
    isMute: chance.happens(0.1),
  };
  switch (plot) {
    case "one name":
      return { ...common, states: [victim], lists: members.map((name) => (name === victim ? "own" : "true")) };
    case "all names":
      return { ...common, states: [at === 0 ? "evil" : victim], lists: members.map(() => "side") };
    case "exchange":
      return { ...common, states: at === 0 ? members : [victim], lists: members.map(() => "other") };
    case "any":
      return {
        ...common,
        states: chance.pick([[victim], [victim, "evil"], members, ["evil"], [null]]),
        lists: members.map(() =>
          chance.pick(["own", "own", "side", "side", "other", "true", "omitted", "nowhere", "unusable"] as const),
        ),
      };
  }
}
