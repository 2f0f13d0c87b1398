/** Every condition of the core. Features declare theirs in the same way, in folders of their own. */
import type { ClusterView } from "../evidence/leadership/cluster-view.ts";
import { addressDisputed, addressUnlisted } from "./addresses.ts";
import { attachmentInDoubt, detached, diverged, stalled } from "./attachment.ts";
import { type ClusterCondition, clusterConditions, isBeyondChecks, isSevere } from "./cluster-condition.ts";
import { companionDown } from "./companions.ts";
import {
  type Brought,
  type Condition,
  isOfWrites,
  rankOf,
  type SituationInputs,
  type ToldCluster,
} from "./condition.ts";
import { cutOff, dcsDistrusted, dcsLost, dcsUnreachable } from "./dcs.ts";
import { distrusted, drained } from "./drains.ts";
import type { ConditionKind } from "./event-kinds.ts";
import { failsafe, paused, pauseForgotten } from "./manager.ts";
import { changingRole } from "./node-signs.ts";
import { keptOut, nodesOut, nodeWarned } from "./nodes.ts";
import { lagging, poolEmpty } from "./pools.ts";
import { withoutPrimary } from "./primary-loss.ts";
import { claimsConflict, strayPrimary, systemConflict } from "./primaries.ts";
import { blind, nodeDown, silentNode, unlistedNode, withoutNodes } from "./reach.ts";
import { writesWait } from "./synchrony.ts";
import { wedged } from "./wedged.ts";

/** Conditions that begin and end with events of the core, in the order in which references list these. */
const withEvents = [
  claimsConflict,
  strayPrimary,
  systemConflict,
  detached,
  diverged,
  stalled,
  nodeDown,
  companionDown,
  poolEmpty,
  nodesOut,
  blind,
  paused,
  failsafe,
  wedged,
  writesWait,
  dcsUnreachable,
  dcsLost,
  dcsDistrusted,
  addressDisputed,
  addressUnlisted,
] as const;

/** Those whose events are reported by a machine of their own, or are orders of operators. */
const withOwnEvents = [withoutPrimary, drained, distrusted] as const;

/** Those without events: they end soon, or one of the others is the event. */
const withoutEvents = [
  withoutNodes,
  unlistedNode,
  lagging,
  changingRole,
  silentNode,
  attachmentInDoubt,
  nodeWarned,
  cutOff,
  pauseForgotten,
  keptOut,
] as const;

type Known = Condition<ConditionKind>;

/** Conditions that the core finds in the evidence. */
export const foundConditions: readonly Known[] = withEvents;

export const conditions: readonly Known[] = [...withEvents, ...withOwnEvents, ...withoutEvents];

/** The conditions with a situation of their own, in the order of precedence. */
const told = [...withOwnEvents, ...withoutEvents, ...withEvents]
  .flatMap((condition: Known) => ("tell" in condition.status ? [{ ...condition.status, harm: condition.harm }] : []))
  .toSorted((one, other) => rankOf(one.harm) - rankOf(other.harm));

type ToldWithHarm = ToldCluster & { readonly harm: Condition["harm"]; readonly isOfFeature?: boolean };

/**
 * What `/status` says about a cluster: the first condition in the order of precedence. Where rolecall has a node that
 * clients are led to, the cause also names all other conditions that concern writes, the worst of the rest, and what
 * features have found. Where it has none, the cause also names what features have found that does not follow from that.
 * An intended condition is named only if it is the only one.
 * @returns `null` if nothing holds
 */
export function tellCluster(view: ClusterView, inputs: SituationInputs): ToldCluster | null {
  const found: ToldWithHarm[] = [];
  for (const { tell, condition, harm } of told) {
    const part = tell(view, inputs);
    if (part === null) continue;
    const one = { harm, condition, ...part };
    if (endsAll(one.condition)) return withFaultsBeside(one, inputs.brought?.found ?? []);
    found.push(one);
  }
  found.push(...toldOfFeatures(inputs.brought?.found ?? []));
  const ordered = found.toSorted((one, other) => rankOf(one.harm) - rankOf(other.harm));
  const [first] = ordered;
  if (first === undefined) return null;
  const rest = ordered.filter(({ harm }) => !isOfWrites(harm) && (harm !== "intended" || harm === first.harm));
  // That a target cannot be read is doubtful: what it means for clients, others find.
  const beside = rest.filter(({ isOfFeature = false, harm }, at) => at === 0 || (isOfFeature && harm !== "doubtful"));
  const causes = [...ordered.filter(({ harm }) => isOfWrites(harm)), ...beside].flatMap(({ cause }) => cause ?? []);
  const worst = clusterConditions.find((word) => found.some(({ condition }) => condition === word));
  return { ...first, condition: worst ?? first.condition, cause: causes.length === 0 ? null : causes.join("; ") };
}

/** Whether nothing else is worth telling: no node is known that clients are led to, or several are. */
function endsAll(condition: ClusterCondition): boolean {
  return isSevere(condition) && !isBeyondChecks(condition);
}

/** A balancer that fails at the same time would keep clients out after the cluster is well again. */
function withFaultsBeside(one: ToldCluster, brought: Brought["found"]): ToldCluster {
  const others = toldOfFeatures(brought.filter(({ found }) => found.followsLoss !== true))
    .toSorted((a, b) => rankOf(a.harm) - rankOf(b.harm))
    .flatMap(({ cause, wrong, isAlwaysTold = false }) => (isAlwaysTold ? wrong : (cause ?? [])));
  return others.length === 0
    ? one
    : { ...one, cause: [...(one.cause === null ? [] : [one.cause]), ...others].join("; ") };
}

function toldOfFeatures(brought: Brought["found"]): readonly ToldWithHarm[] {
  return brought.flatMap(({ condition: { harm, status }, found }) =>
    "tellCase" in status ? [{ harm, ...status.tellCase(found), isOfFeature: true }] : [],
  );
}

const nobody: SituationInputs = { nodes: [], asked: [], wallMs: 0 };

/**
 * The condition of a cluster whose clients are refused, or may reach the wrong node; `null` if they are served. Cheap
 * where they are: it looks no further than the primary.
 * @param brought what features have found of the cluster
 */
export function severeConditionOf(view: ClusterView, brought: Brought["found"]): ClusterCondition | null {
  for (const { tell, condition } of told) {
    const part = isSevere(condition) ? tell(view, nobody) : null;
    if (part !== null && isSevere(part.condition ?? condition)) return part.condition ?? condition;
  }
  return toldOfFeatures(brought).find((part) => isSevere(part.condition))?.condition ?? null;
}

/** What would make a node fit again, by the reason for its no. */
export const remediesOfConditions: ReadonlyMap<string, string> = new Map(
  conditions.flatMap(({ remedies = {} }) => Object.entries(remedies)),
);

/** The reasons for a no that conditions give. */
export type ConditionReason = KeysOfUnion<Remedies>;

type Remedies = Extract<
  (typeof withEvents)[number] | (typeof withOwnEvents)[number] | (typeof withoutEvents)[number],
  { readonly remedies: object }
>["remedies"];
type KeysOfUnion<T> = T extends unknown ? keyof T : never;

/** The first condition whose situation a word of `/status` is; `undefined` for `ok`, and for a word of another version. */
export function conditionOfWord(word: string): Condition<ConditionKind> | undefined {
  return conditions.find(({ status }) => "condition" in status && status.condition === word);
}
