/** What `/status` says of a whole cluster, or of a node, in a word or two. Conditions say which of them they are. */

interface ConditionWord {
  readonly name: string;
  /** Whether clients are refused, or may reach the wrong node. */
  readonly isSevere: boolean;
  /** Whether it needs the attention of an operator. */
  readonly isProblem: boolean;
  /** What the live page says. */
  readonly word: string;
  /** How the live page paints it. */
  readonly tone: "bad" | "warn" | "idle" | "ok";
  /** What follows a number of clusters. */
  readonly counted: string;
}

const words = [
  {
    name: "two primaries",
    isSevere: true,
    isProblem: true,
    word: "two primaries",
    tone: "bad",
    counted: "with two primaries",
  },
  {
    name: "without a primary",
    isSevere: true,
    isProblem: true,
    word: "no primary",
    tone: "bad",
    counted: "without a primary",
  },
  { name: "blind", isSevere: true, isProblem: true, word: "blind", tone: "bad", counted: "blind" },
  { name: "without nodes", isSevere: true, isProblem: true, word: "no nodes", tone: "bad", counted: "without nodes" },
  {
    name: "clients failing",
    isSevere: true,
    isProblem: true,
    word: "clients failing",
    tone: "bad",
    counted: "with failing clients",
  },
  { name: "degraded", isSevere: false, isProblem: true, word: "degraded", tone: "warn", counted: "degraded" },
  { name: "warning", isSevere: false, isProblem: true, word: "warning", tone: "warn", counted: "with warnings" },
  { name: "drained", isSevere: false, isProblem: false, word: "drained", tone: "idle", counted: "with drained nodes" },
  { name: "ok", isSevere: false, isProblem: false, word: "ok", tone: "ok", counted: "ok" },
] as const satisfies readonly ConditionWord[];

export type ClusterCondition = (typeof words)[number]["name"];

/** What a cluster may be, worst first. The only order: of `rolecall status`, of the page and of the metrics. */
export const clusterConditionWords: readonly (ConditionWord & { readonly name: ClusterCondition })[] = words;

export const clusterConditions: readonly ClusterCondition[] = words.map(({ name }) => name);

const byName: ReadonlyMap<string, ConditionWord> = new Map(words.map((word) => [word.name, word]));

/** Whether clients of a cluster in this condition are refused, or may reach the wrong node. */
export function isSevere(condition: string): boolean {
  return byName.get(condition)?.isSevere === true;
}

/** Whether clients fail although checks lead them to nodes that are fit. */
export function isBeyondChecks(condition: string): boolean {
  return condition === ("clients failing" satisfies ClusterCondition);
}

/** Whether a condition needs the attention of an operator. One that this version does not know does. */
export function isProblem(condition: string): boolean {
  return byName.get(condition)?.isProblem !== false;
}

/** How a condition is worded behind a number of clusters. */
export function countedCondition(condition: string): string {
  return byName.get(condition)?.counted ?? condition;
}

/** The conditions of a node, worst first. A drained node is out of service on purpose, which is no problem. */
export const nodeConditions = ["unfit", "warning", "drained", "ok"] as const;

export type NodeCondition = (typeof nodeConditions)[number];

/** Whether a node in this condition serves its role. */
export function isServing({ condition }: { readonly condition: string }): boolean {
  return condition === "ok" || condition === "warning";
}
