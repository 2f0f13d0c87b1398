import type { ClusterView } from "../evidence/leadership/cluster-view.ts";
import type { Observation } from "../../cluster/observation.ts";
import type { AskedCheck } from "../rules/asked-checks.ts";
import type { Reason } from "../reason.ts";
import type { ClusterFacts, TwinFacts } from "./cluster-facts.ts";
import type { ClusterCondition } from "./cluster-condition.ts";
import type { NodeStanding } from "./node-standing.ts";

/**
 * What a condition may cost. This is the order of precedence of advice, and the only one: where several conditions hold,
 * what could lose data or writes comes before what is merely missing.
 *
 * - `split`: writes may go to several databases, and those of one of them be lost
 * - `leaderless`: writes are refused or soon will be, and nobody can take over
 * - `stuck`: there is a primary, and clients wait or fail all the same
 * - `unseen`: rolecall cannot judge
 * - `diverged`: a copy holds other data
 * - `missing`: a node or a pool is out
 * - `doubtful`: something may follow
 * - `intended`: an operator or a setting wants it so
 */
export const harms = ["split", "leaderless", "stuck", "unseen", "diverged", "missing", "doubtful", "intended"] as const;

export type Harm = (typeof harms)[number];

/** The harms of data or writes. A situation tells every condition with one of them, and the worst of the others. */
const harmsOfWrites: ReadonlySet<Harm> = new Set<Harm>(["split", "leaderless", "stuck"]);

/** The place of a harm in the order of precedence: the lowest comes first. */
export function rankOf(harm: Harm): number {
  return harms.indexOf(harm);
}

export function isOfWrites(harm: Harm): boolean {
  return harmsOfWrites.has(harm);
}

/**
 * Something that holds of a cluster or of its nodes for a time. It is declared once, by one object: from it follow the
 * events, what `/status`, the page and `explain` say, the finding of the commands and the alerts.
 */
export interface Condition<Kind extends string = string> {
  /** The kind of the event that begins it, if it has events. */
  readonly id: string;
  /** What holds, in a few words. */
  readonly title: string;
  readonly harm: Harm;
  readonly events?: ConditionEvents<Kind>;
  readonly status: StatusPlace;
  /** What it says of one node, if it is about nodes. */
  readonly ofNode?: NodeSigns;
  /** The rule of the finding that commands report (docs/rules.md). */
  readonly rule?: string;
  /** The reasons for a no that it gives, and what would make a node fit again, for `explain`. */
  readonly remedies?: { readonly [reason in Reason]?: string };
  /** The alerts that fire for it (docs/alerts.md). */
  readonly alerts: readonly string[];
}

/** How the log of events tells that a condition begins and ends. */
export interface ConditionEvents<Kind extends string = string> {
  readonly begins: Kind;
  readonly ends: Kind;
  /** What its beginning may be, as docs/events.md states it. */
  readonly severities: readonly ("info" | "warning" | "error")[];
  /** The reason that its log line refers to. */
  readonly reason?: Reason;
  /**
   * Finds the cases of it that hold. `null`: a machine with phases, an operator's order or a feature brings its events.
   * Unless a cluster's visibility is `clear`, only what may hold while it is hidden is looked for.
   */
  readonly holds: ((facts: ClusterFacts) => readonly Case[]) | null;
  /** What the log says at its end; the duration follows. `null`: the part that reports the end has its own text. */
  readonly endText: ((cluster: string, node: string | null, key: string) => string) | null;
  /**
   * The figure of its events that tells one case from the others of a cluster, in place of the node: the end has it, too.
   * `endText` gets it as `key`.
   */
  readonly keyFigure?: string;
  /** How long it has to last before it is reported, in ms. Default: 0 */
  readonly holdMs?: number;
  /** How long it must be absent before its end is reported, in ms: found again sooner, it is the same. Default: 0 */
  readonly quietMs?: number;
  /** Whether it may begin and end while the nodes of the cluster cannot be seen. */
  readonly mayBeHidden?: boolean;
  /** Whether a process needs some time before it finds one that began before its start. */
  readonly isFoundLate?: boolean;
  /** The ids of conditions that are found late: one of them may be why this one lasts. */
  readonly restsOn?: readonly string[];
  /**
   * Whether one that is no longer found is certainly over: the evidence to find it may be missing. Asked only while the
   * cluster is clear, or not hidden of one that may be hidden.
   * Default: at a node, once it answers; else at once.
   */
  readonly isEndKnown?: (facts: ClusterFacts, node: string | null) => boolean;
}

/** One case of a condition that holds, as the event that begins it states it. */
export interface Case {
  /** `null`: of the whole cluster. */
  readonly node: string | null;
  readonly severity: "warning" | "error";
  readonly message: string;
  readonly cause: string | null;
  readonly figures: Readonly<Record<string, string | number>>;
  /** A condition that changes to another level while it lasts begins anew, without an end of the former level. */
  readonly level: string;
  /** Since when it holds, in ms of rolecall's clock, where the evidence says more than when it was found. */
  readonly sinceMs?: number;
  /** Whether a cluster without a primary would show the same: then it is not told beside that. Default: no */
  readonly followsLoss?: boolean;
}

/** A case with its condition: what a feature has found. */
export interface Found<Kind extends string = string> {
  readonly condition: Condition<Kind>;
  readonly found: Case;
}

/** A case, with defaults for what a condition of a whole cluster has not. */
export function oneCase(parts: Pick<Case, "severity" | "message"> & Partial<Case>): Case {
  return { node: null, cause: null, figures: {}, level: "", ...parts };
}

/**
 * Where `/status` shows a condition: as a situation of its own, which for that of a feature is one for each case, in a
 * field beside it, or within the situation of another condition, whose id it names.
 */
export type StatusPlace =
  | { readonly condition: ClusterCondition; readonly tell: Tell }
  | { readonly tellCase: TellCase }
  | { readonly field: string }
  | { readonly within: string };

/** Says what follows from a case that a feature has found. */
export type TellCase = (found: Case) => ToldCluster;

/** The condition of a cluster, and what `/status` says about it. */
export interface ToldCluster extends Told {
  readonly condition: ClusterCondition;
}

/** Says what holds of a cluster and what to do. @returns `null` if the condition does not hold */
export type Tell = (view: ClusterView, inputs: SituationInputs) => Told | null;

/** What a situation depends on, besides the evidence. */
export interface SituationInputs {
  /** The nodes as the overview has them. */
  readonly nodes: readonly NodeStanding[];
  readonly asked: readonly AskedCheck[];
  /** The view's instant, in ms since the epoch. */
  readonly wallMs: number;
  /** The other clusters of the primary's database system that have a primary too. Default: none is known */
  readonly twins?: readonly TwinFacts[];
  /** What features know of the cluster. Default: nothing */
  readonly brought?: Brought;
}

/** What features know of a cluster, as far as its situation depends on it. */
export interface Brought {
  readonly found: readonly Found[];
  /** What they have seen of where clients get, as clauses; `null`: nothing is said of that. */
  readonly seen: readonly string[] | null;
}

/** What is said of a condition. Texts are whole clauses without a full stop. */
export interface Told extends Advice {
  /** What is wrong: `no primary`. */
  readonly wrong: string;
  /** Why, as far as rolecall knows. */
  readonly cause: string | null;
  /** In ms of rolecall's clock; `null` if it is not known. */
  readonly sinceMs: number | null;
  /** Where it is worse, or less bad, than the condition usually is. */
  readonly harm?: Harm;
  readonly condition?: ClusterCondition;
  /** Whether `wrong` is told also beside a condition in which nothing else is worth telling: it is what clients get. */
  readonly isAlwaysTold?: boolean;
}

export interface Advice {
  /** What happens next without anybody's help. */
  readonly next: string | null;
  /** What to do. */
  readonly action: string | null;
}

/** What a condition says of one node. */
export interface NodeSigns {
  /** What counts against a node that is fit for its role, for the end of `pg1`; `null` if nothing does. */
  readonly warning?: (view: ClusterView, observation: Observation) => string | null;
  /** Whether `explain` remarks on it, since no rule uses it. */
  readonly isRemark?: boolean;
  /** Whether the node has it by its standing. */
  readonly isOf: (standing: NodeStanding, view: ClusterView, observation: Observation) => boolean;
  /** What it may cost at this node, where that is worse than usual: the advice on it comes before that on others. */
  readonly harm?: (standing: NodeStanding) => Harm | null;
  /** Since when, in ms of rolecall's clock; `null` if that is not known. */
  readonly sinceMs?: (view: ClusterView, observation: Observation, standing: NodeStanding) => number | null;
  readonly advice: (standing: NodeStanding, view: ClusterView, observation: Observation) => Advice;
}
