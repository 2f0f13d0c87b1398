/** The faults that a switchover meets, and at which states of the machine. Data only. */

/** A state of the machine; `before`: the fault is there before the switchover is asked for. */
export type MetState =
  "before" | "checking" | "arming" | "pausing" | "switching" | "switching, late" | "routing" | "resuming";

/** Where a fault is injected: `alone` with `--unguarded`; `peer` with a second rolecall that reaches all poolers. */
export type LabKind = "alone" | "peer";

/** What is done to the lab. */
export type Inflicted =
  /** SIGKILL; it is started again at the end. `guardian`: its guardian too, as systemd (`KillMode=mixed`) and containers do. */
  | { readonly kind: "kill_rolecall"; readonly guardian: boolean; readonly cut: boolean }
  | { readonly kind: "freeze_rolecall"; readonly guardian: boolean }
  | { readonly kind: "kill_guardian" | "freeze_guardian" }
  | { readonly kind: "kill_pooler" | "freeze_pooler" | "cut_pooler" }
  | { readonly kind: "kill_candidate" | "freeze_candidate" | "kill_etcd" | "freeze_etcd" | "kill_peer" | "freeze_peer" }
  /** A transaction through the first pooler that is open before the switchover and does not end. */
  | { readonly kind: "transaction" }
  /** The nodes' answer to `POST /switchover`. `hang`: none, and nothing is done. `lose`: it is done, without an answer. */
  | { readonly kind: "api"; readonly answer: 412 | 503 | "hang" | "lose" }
  | { readonly kind: "second_switchover" | "state_file" }
  /** Nothing can be written beside the file that the first pooler includes. */
  | { readonly kind: "pooler_file" }
  /** The other rolecall is asked for a switchover, too, so long before the first one. */
  | { readonly kind: "second_edge"; readonly earlierMs: number };

/** How soon all is resumed once rolecall is gone or stands still before the request, in ms. After it, clients are led first. */
export interface GoneLimit {
  /** From the fault, or from the start of the next rolecall. */
  readonly from: "fault" | "start";
  readonly withinMs: number;
}

export interface FaultSpec {
  readonly name: string;
  readonly lab: LabKind;
  readonly inflicted: Inflicted;
  readonly states: readonly MetState[];
  /** How long it lasts, in ms. */
  readonly lastsMs: number;
  /** Absent: only the deadline holds. */
  readonly gone?: GoneLimit;
  /** The kinds of outcome that are right; absent: any. */
  readonly outcomes?: readonly string[];
  /** How long anything may be paused, in ms, if less than the deadline. */
  readonly pausedMaxMs?: number;
  /** How long a pooler may be paused that the fault does not hit, in ms: it waits for no other one. */
  readonly othersMaxMs?: number;
  /** Whether no transaction may fail: somebody lives who finishes the switchover. */
  readonly isClean?: boolean;
}

/** `--deadline` of every switchover with a fault, in ms. */
export const deadlineMs = 10_000;
/** `pause_limit` of the poolers, in ms. */
const pauseLimitMs = 3_000;

/** A demotion, and all that rolecall itself needs. */
const othersMaxMs = 5_000;

const afterArming = ["pausing", "switching", "routing", "resuming"] as const;
const all = ["checking", "arming", ...afterArming] as const;
const byGuardian: GoneLimit = { from: "fault", withinMs: 1_000 };
/** The guardian waits 1 s for a sign of life. */
const byGuardianOfFrozen: GoneLimit = { from: "fault", withinMs: 2_000 };
const byPeer: GoneLimit = { from: "fault", withinMs: 3_000 };
const byNextStart: GoneLimit = { from: "start", withinMs: 1_000 };
const kill = { kind: "kill_rolecall", guardian: false, cut: false } as const;
const killBoth = { kind: "kill_rolecall", guardian: true, cut: false } as const;
const freeze = { kind: "freeze_rolecall", guardian: false } as const;
const freezeBoth = { kind: "freeze_rolecall", guardian: true } as const;

export const faults: readonly FaultSpec[] = [
  {
    name: "rolecall killed",
    lab: "alone",
    inflicted: kill,
    states: all,
    lastsMs: 1_000,
    gone: byGuardian,
    isClean: true,
  },
  {
    name: "rolecall and its guardian killed",
    lab: "alone",
    inflicted: killBoth,
    states: ["arming", ...afterArming],
    lastsMs: 1_000,
    gone: byNextStart,
  },
  {
    name: "rolecall frozen for 5 s",
    lab: "alone",
    inflicted: freeze,
    states: all,
    lastsMs: 5_000,
    gone: byGuardianOfFrozen,
    isClean: true,
  },
  {
    name: "the guardian killed",
    lab: "alone",
    inflicted: { kind: "kill_guardian" },
    states: ["arming", ...afterArming],
    lastsMs: 1_000,
    othersMaxMs,
    isClean: true,
  },
  {
    name: "the guardian frozen for 5 s",
    lab: "alone",
    inflicted: { kind: "freeze_guardian" },
    states: ["arming", ...afterArming],
    lastsMs: 5_000,
    othersMaxMs,
    isClean: true,
  },
  {
    name: "a PgBouncer killed",
    lab: "alone",
    inflicted: { kind: "kill_pooler" },
    states: all,
    lastsMs: 1_000,
    othersMaxMs,
  },
  {
    name: "a PgBouncer killed, and gone beyond the deadline",
    lab: "alone",
    inflicted: { kind: "kill_pooler" },
    states: ["switching", "routing"],
    lastsMs: 13_000,
    othersMaxMs,
    // RESUME is tried for 5 s more: it may be back by then.
    outcomes: ["unfinished", "switched"],
  },
  {
    name: "a PgBouncer frozen for 4 s",
    lab: "alone",
    inflicted: { kind: "freeze_pooler" },
    states: all,
    lastsMs: 4_000,
    othersMaxMs,
  },
  {
    name: "a PgBouncer frozen beyond the deadline",
    lab: "alone",
    inflicted: { kind: "freeze_pooler" },
    states: ["switching", "resuming"],
    lastsMs: 13_000,
    othersMaxMs,
  },
  {
    name: "the candidate killed",
    lab: "alone",
    inflicted: { kind: "kill_candidate" },
    states: ["pausing", "switching", "switching, late", "routing", "resuming"],
    lastsMs: 3_000,
  },
  {
    name: "the candidate frozen for 4 s",
    lab: "alone",
    inflicted: { kind: "freeze_candidate" },
    states: ["pausing", "switching", "switching, late", "routing", "resuming"],
    lastsMs: 4_000,
  },
  {
    name: "etcd killed, and back after 3 s",
    lab: "alone",
    inflicted: { kind: "kill_etcd" },
    states: ["arming", ...afterArming],
    lastsMs: 3_000,
  },
  {
    name: "etcd frozen for 4 s",
    lab: "alone",
    inflicted: { kind: "freeze_etcd" },
    states: ["arming", ...afterArming],
    lastsMs: 4_000,
  },
  {
    name: "etcd frozen beyond the deadline",
    lab: "alone",
    inflicted: { kind: "freeze_etcd" },
    states: ["switching"],
    lastsMs: 13_000,
  },
  {
    name: "the network to a PgBouncer cut for 3 s",
    lab: "alone",
    inflicted: { kind: "cut_pooler" },
    states: afterArming,
    lastsMs: 3_000,
  },
  // TCP repeats packets after times that double: how soon a console opens depends on when the network is back.
  ...[3_250, 3_500, 3_750].map((lastsMs): FaultSpec => ({
    name: `the network to a PgBouncer cut for ${lastsMs / 1_000} s`,
    lab: "alone",
    inflicted: { kind: "cut_pooler" },
    states: ["switching"],
    lastsMs,
  })),
  {
    name: "the network to a PgBouncer cut beyond the deadline",
    lab: "alone",
    inflicted: { kind: "cut_pooler" },
    states: ["pausing", "switching", "resuming"],
    lastsMs: 13_000,
    othersMaxMs,
    isClean: true,
  },
  {
    name: "the file of a PgBouncer cannot be written",
    lab: "alone",
    inflicted: { kind: "pooler_file" },
    states: ["before"],
    lastsMs: 4_000,
    outcomes: ["refused"],
    pausedMaxMs: 0,
    isClean: true,
  },
  {
    name: "the file of a PgBouncer cannot be written for 4 s",
    lab: "alone",
    inflicted: { kind: "pooler_file" },
    states: ["arming", ...afterArming],
    lastsMs: 4_000,
    othersMaxMs,
    outcomes: ["switched"],
    isClean: true,
  },
  {
    name: "the file of a PgBouncer cannot be written until the deadline is over",
    lab: "alone",
    inflicted: { kind: "pooler_file" },
    states: ["switching"],
    lastsMs: 20_000,
    othersMaxMs,
    outcomes: ["unfinished"],
  },
  {
    name: "a transaction that does not end",
    lab: "alone",
    inflicted: { kind: "transaction" },
    states: ["before"],
    lastsMs: 8_000,
    outcomes: ["aborted"],
    pausedMaxMs: pauseLimitMs,
  },
  {
    name: "Patroni answers 412",
    lab: "alone",
    inflicted: { kind: "api", answer: 412 },
    states: ["before"],
    lastsMs: 6_000,
    outcomes: ["rejected"],
    pausedMaxMs: 1_000,
  },
  {
    name: "Patroni answers 503",
    lab: "alone",
    inflicted: { kind: "api", answer: 503 },
    states: ["before"],
    lastsMs: 13_000,
    outcomes: ["unknown"],
  },
  {
    name: "Patroni hangs",
    lab: "alone",
    inflicted: { kind: "api", answer: "hang" },
    states: ["before"],
    lastsMs: 13_000,
    outcomes: ["unknown"],
  },
  {
    name: "Patroni switches over, and its answer is lost",
    lab: "alone",
    inflicted: { kind: "api", answer: "lose" },
    states: ["before"],
    lastsMs: 6_000,
    outcomes: ["switched"],
  },
  {
    name: "a second switchover",
    lab: "alone",
    inflicted: { kind: "second_switchover" },
    states: all,
    lastsMs: 0,
    outcomes: ["switched"],
  },
  {
    name: "the state file cannot be written",
    lab: "alone",
    inflicted: { kind: "state_file" },
    states: ["before"],
    lastsMs: 4_000,
    outcomes: ["refused"],
    pausedMaxMs: 0,
  },
  {
    name: "the state file cannot be written for 3 s",
    lab: "alone",
    inflicted: { kind: "state_file" },
    states: afterArming,
    lastsMs: 3_000,
  },
  {
    name: "rolecall killed, with a peer",
    lab: "peer",
    inflicted: kill,
    states: afterArming,
    lastsMs: 4_000,
    gone: byGuardian,
    isClean: true,
  },
  {
    name: "rolecall and its guardian killed, with a peer",
    lab: "peer",
    inflicted: killBoth,
    states: ["arming", ...afterArming],
    lastsMs: 5_000,
    gone: byPeer,
    isClean: true,
  },
  {
    name: "rolecall frozen for 6 s, with a peer",
    lab: "peer",
    inflicted: freeze,
    states: afterArming,
    lastsMs: 6_000,
    gone: byGuardianOfFrozen,
    isClean: true,
  },
  {
    name: "rolecall and its guardian frozen for 6 s, with a peer",
    lab: "peer",
    inflicted: freezeBoth,
    states: ["arming", ...afterArming],
    lastsMs: 6_000,
    gone: byPeer,
    isClean: true,
  },
  {
    name: "the peer killed",
    lab: "peer",
    inflicted: { kind: "kill_peer" },
    states: ["arming", ...afterArming],
    lastsMs: 3_000,
  },
  {
    name: "no state can be written for 3 s, with a peer",
    lab: "peer",
    inflicted: { kind: "state_file" },
    states: ["arming", ...afterArming],
    lastsMs: 3_000,
    isClean: true,
  },
  {
    name: "the peer frozen for 4 s",
    lab: "peer",
    inflicted: { kind: "freeze_peer" },
    states: ["arming", ...afterArming],
    lastsMs: 4_000,
  },
  {
    name: "the network to a PgBouncer cut beyond the deadline, with a peer",
    lab: "peer",
    inflicted: { kind: "cut_pooler" },
    states: ["switching"],
    lastsMs: 13_000,
  },
  {
    name: "the peer switches over too",
    lab: "peer",
    inflicted: { kind: "second_edge", earlierMs: 0 },
    states: ["before"],
    lastsMs: 0,
    outcomes: ["switched", "refused"],
    isClean: true,
  },
  ...[5, 20, 100].map((earlierMs): FaultSpec => ({
    name: `the peer switches over too, ${earlierMs} ms earlier`,
    lab: "peer",
    inflicted: { kind: "second_edge", earlierMs },
    states: ["before"],
    lastsMs: 0,
    outcomes: ["switched", "refused"],
    isClean: true,
  })),
  {
    name: "rolecall and its guardian killed while the network to a PgBouncer is cut, with a peer",
    lab: "peer",
    inflicted: { ...killBoth, cut: true },
    states: ["pausing", "switching"],
    lastsMs: 6_000,
    gone: byPeer,
  },
];
