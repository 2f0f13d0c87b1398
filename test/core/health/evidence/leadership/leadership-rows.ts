import type { ClaimLoss } from "../../../../../src/core/cluster/leadership.ts";
import {
  resolveLeadership,
  type ResolvedLeadership,
} from "../../../../../src/core/health/evidence/leadership/leadership.ts";
import type {
  LeadershipInputs,
  LeaderView,
  LockClaim,
  NodeAnswers,
} from "../../../../../src/core/health/evidence/leadership/leadership-inputs.ts";

/**
 * What one node contributes to the decision. Claims appear at 10 (early) or 20 (late). Views are requested at 15,
 * between the two, or at 30. A node without the lock reported so at 12, before any view, or at 40.
 */
export interface NodeState {
  readonly status: "silent" | "follows" | "followed" | "claims" | "claims late";
  readonly isFailsafe: boolean;
  /**
   * The node that its view names; `null` for nobody; "twice" for nobody in two views an interval apart; "none" for no
   * view.
   */
  readonly view: number | null | "twice" | "none";
  readonly isViewEarly: boolean;
}

/** One combination: nodes by number, and the state of the cluster. */
export interface Row {
  readonly nodes: readonly NodeState[];
  readonly isPaused: boolean;
  readonly incumbent: number | null;
}

export const statuses = ["silent", "follows", "followed", "claims", "claims late"] as const;
const earlierMs = 1;

export function doesClaim({ status }: NodeState): boolean {
  return status === "claims" || status === "claims late";
}

export function requestedAtMs({ isViewEarly }: NodeState): number {
  return isViewEarly ? 15 : 30;
}

export function appearedAtMs({ status }: NodeState): number {
  return status === "claims" ? 10 : 20;
}

/** Every state of one node among `count`. Without the order of events if `isSettled`. */
export function nodeStates(count: number, isSettled: boolean): readonly NodeState[] {
  const views: readonly NodeState["view"][] = [
    ...Array.from({ length: count }, (_, at) => at),
    ...(isSettled ? [] : [null]),
    "twice",
    "none",
  ];
  const states: NodeState[] = [];
  for (const status of isSettled ? (["silent", "follows", "claims"] as const) : statuses) {
    for (const isFailsafe of status === "claims" ? [false, true] : [false]) {
      for (const view of views) {
        for (const isViewEarly of isSettled || view === "none" ? [false] : [false, true])
          states.push({ status, isFailsafe, view, isViewEarly });
      }
    }
  }
  return states;
}

/** Every combination of nodes, flags and incumbents. */
export function* rows(count: number, states: readonly NodeState[]): Generator<Row> {
  const incumbents = [null, ...Array.from({ length: count }, (_, at) => at)];
  const combine = function* (nodes: readonly NodeState[]): Generator<readonly NodeState[]> {
    if (nodes.length === count) yield nodes;
    else for (const state of states) yield* combine([...nodes, state]);
  };
  for (const nodes of combine([])) {
    // Pause only matters for views that name nobody.
    const isPauseOpen = nodes.some(({ view }) => view === null || view === "twice");
    for (const isPaused of isPauseOpen ? [false, true] : [false])
      for (const incumbent of incumbents) yield { nodes, isPaused, incumbent };
  }
}

export function nameOf(at: number): string {
  return `pg${at + 1}`;
}

/** Whether no renaming of its nodes gives an earlier row. Of rows that differ in names only, one is enough. */
export function isFirstOfItsKind(row: Row, states: ReadonlyMap<NodeState, number>): boolean {
  const own = keyOf(row, [...row.nodes.keys()], states);
  return (permutations[row.nodes.length] ?? []).every((to) => keyOf(row, to, states) >= own);
}

/** The key of a row with renamed nodes, without building that row. */
function keyOf({ nodes, incumbent }: Row, to: readonly number[], states: ReadonlyMap<NodeState, number>): number {
  let key = incumbent === null ? 0 : (to[incumbent] ?? 0) + 1;
  for (let at = 0; at < nodes.length; at += 1) {
    const state = nodes[to.indexOf(at)];
    if (state === undefined) continue;
    const view = typeof state.view === "number" ? (to[state.view] ?? 0) : 9;
    key = key * 1_000 + (states.get(state) ?? 0) * 10 + view;
  }
  return key;
}

/** A number for each state, the same for all nodes that its view may name. */
export function kindsOf(states: readonly NodeState[]): ReadonlyMap<NodeState, number> {
  const kinds = new Map<string, number>();
  return new Map(
    states.map((state) => {
      const kind = JSON.stringify({ ...state, view: typeof state.view === "number" ? "node" : state.view });
      if (!kinds.has(kind)) kinds.set(kind, kinds.size);
      return [state, kinds.get(kind) ?? 0];
    }),
  );
}

/** Converts a row to the function's inputs. @param laterMs how much later everything but the claims happened */
export function inputsOf(row: Row, lost: ReadonlyMap<string, ClaimLoss> = new Map(), laterMs = 0): LeadershipInputs {
  const claims: LockClaim[] = [];
  const views: LeaderView[] = [];
  const nodes = new Map<string, NodeAnswers>();
  for (const [at, state] of row.nodes.entries()) {
    const node = nameOf(at);
    const hasLock = doesClaim(state);
    const { isFailsafe, view, status } = state;
    if (hasLock)
      claims.push({
        node,
        appearedAtMs: appearedAtMs(state),
        timeline: null,
        isPaused: row.isPaused,
        isFailsafe,
        hasApi: true,
      });
    const sentMs = requestedAtMs(state) + laterMs;
    if (view !== "none") {
      const names = typeof view === "number" ? nameOf(view) : null;
      views.push({
        witness: node,
        names,
        namesAt: null,
        requestedAtMs: sentMs,
        answeredAtMs: sentMs + 1,
        repeatedAtMs: view === "twice" ? [sentMs - earlierMs, sentMs] : [sentMs],
      });
    }
    const reportedAtMs = status === "silent" ? 5 : status === "followed" ? 12 : 40 + laterMs;
    nodes.set(node, {
      reportedAtMs,
      hasLock,
      isSilent: status === "silent",
      isViewFailing: view === "none",
      canTestify: true,
      api: null,
    });
  }
  const incumbent = row.incumbent === null ? null : nameOf(row.incumbent);
  return {
    claims,
    views,
    nodes,
    lostClaims: lost,
    withdrawals: new Map(),
    refused: new Map(),
    lastHolder: null,
    incumbent,
    intervalMs: earlierMs,
  };
}

/** The decision after the same evidence was repeated, starting with the given lost claims. */
export function settled(row: Row, lost: ReadonlyMap<string, ClaimLoss> = new Map()): ResolvedLeadership {
  let resolved = resolveLeadership(inputsOf(row, lost, 100));
  for (let round = 2; round <= 3; round += 1) {
    const holder = resolved.decision.kind === "held" ? Number(resolved.decision.holder.slice(2)) - 1 : row.incumbent;
    resolved = resolveLeadership(inputsOf({ ...row, incumbent: holder }, resolved.lostClaims, round * 100));
  }
  return resolved;
}

/** The same row with its nodes renamed: node `at` becomes node `to[at]`. */
export function renamed(row: Row, to: readonly number[]): Row {
  const nodes: NodeState[] = [];
  for (const [at, state] of row.nodes.entries()) {
    const view = typeof state.view === "number" ? (to[state.view] ?? 0) : state.view;
    nodes[to[at] ?? 0] = { ...state, view };
  }
  return { ...row, nodes, incumbent: row.incumbent === null ? null : (to[row.incumbent] ?? 0) };
}

export const permutations: Readonly<Record<number, readonly (readonly number[])[]>> = {
  2: [
    [0, 1],
    [1, 0],
  ],
  3: [
    [0, 1, 2],
    [0, 2, 1],
    [1, 0, 2],
    [1, 2, 0],
    [2, 0, 1],
    [2, 1, 0],
  ],
};

/**
 * The truths that explain a settled row with the fewest faulty nodes: the node that really leads, or `null` for nobody.
 * A node is faulty if its claim, its denial or its view contradicts the truth. A silent node and a missing view
 * contradict nothing. While the DCS may be unreachable (pause, failsafe), neither does a view that names nobody.
 */
export function truths(row: Row): { readonly leaders: readonly (number | null)[]; readonly faults: number } {
  const candidates = [null, ...row.nodes.keys()];
  const faults = candidates.map(
    (leader) => row.nodes.filter((state, at) => isAtFault(state, { at, leader, row })).length,
  );
  const least = Math.min(...faults);
  return { leaders: candidates.filter((_, at) => faults[at] === least), faults: least };
}

function isAtFault(
  state: NodeState,
  { at, leader, row }: { readonly at: number; readonly leader: number | null; readonly row: Row },
): boolean {
  if (doesClaim(state) !== (at === leader) && state.status !== "silent") return true;
  if (typeof state.view === "number") return state.view !== leader;
  const isExcused = row.isPaused || (leader !== null && row.nodes[leader]?.isFailsafe === true);
  return state.view === "twice" && leader !== null && !isExcused;
}
