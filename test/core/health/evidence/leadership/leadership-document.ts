import type { DecisionBasis, LeaderDecision } from "../../../../../src/core/cluster/leadership.ts";
import { doesClaim, nameOf, settled, truths, type NodeState, type Row } from "./leadership-rows.ts";

/** Rows with the same decision and explanation, and the first of them. */
interface Group {
  readonly claims: string;
  readonly chosen: string;
  readonly own: string;
  readonly truths: Set<string>;
  readonly example: string;
  rows: number;
}

const bases: Readonly<Record<DecisionBasis, string>> = {
  sole: "the only claim that is not lost",
  views: "most views name it",
  own_view: "tied claims; only it names itself in its view",
  incumbent: "tied claims; it is the last accepted leader",
  timeline: "tied claims; it is on the highest timeline",
  receivers: "the standbys receive from it",
};

const head = `# The combinations of claims and views in which another explanation is as likely as the choice, or likelier.
# proof/rules.md has the rule. UPDATE_DOCS=1 writes this file.
# claims | chosen | named by the chosen node's view | leaders in the likeliest explanations | combinations | example
`;

/** Renders the ambiguous rows, grouped. With UPDATE_DOCS=1 their test writes them to `ambiguous-leadership.txt`. */
export function leadershipDocument(all: Iterable<Row>): string {
  const groups = new Map<string, Group>();
  for (const row of all) {
    if (!row.nodes.some(doesClaim)) continue;
    const { decision } = settled(row);
    const holder = decision.kind === "held" ? Number(decision.holder.slice(2)) - 1 : null;
    const { leaders } = truths(row);
    if (isBestExplanation(row, leaders, holder)) continue;
    const group = groupOf(row, decision, holder);
    const key = `${group.claims} ${group.chosen} ${group.own}`;
    const known = groups.get(key) ?? group;
    known.rows += 1;
    for (const leader of leaders) known.truths.add(roleOf(row, leader, holder));
    groups.set(key, known);
  }
  const lines = [...groups.values()]
    .toSorted((one, other) => rank(one).localeCompare(rank(other)))
    .map(
      (group) =>
        `${group.claims} | ${group.chosen} | ${group.own} | ${[...group.truths].toSorted().join("; ")} | ${group.rows} | ${group.example}`,
    );
  return `${head}${lines.join("\n")}\n`;
}

/** Whether the decision is the only best explanation: its leader if that node claims the lock, else nobody. */
function isBestExplanation(row: Row, leaders: readonly (number | null)[], holder: number | null): boolean {
  const [leader, ...others] = leaders;
  if (leader === undefined || others.length > 0) return false;
  const node = leader === null ? undefined : row.nodes[leader];
  return holder === (node !== undefined && doesClaim(node) ? leader : null);
}

function groupOf(row: Row, decision: LeaderDecision, holder: number | null): Group {
  const claims = row.nodes.filter(doesClaim).length === 1 ? "one" : "several";
  const chosen =
    decision.kind === "held"
      ? `a claimant${row.nodes[holder ?? -1]?.isFailsafe === true ? " in failsafe" : ""}: ${bases[decision.by]}`
      : decision.kind === "contested"
        ? "nobody: tied claims"
        : "nobody: every claim is lost";
  const own = holder === null ? "" : viewOf(row, holder);
  return {
    claims,
    chosen,
    own,
    truths: new Set(),
    rows: 0,
    example: row.nodes.map((node, at) => sentence(node, at)).join("; ") + flags(row),
  };
}

function viewOf(row: Row, at: number): string {
  const view = row.nodes[at]?.view;
  if (view === "none") return "(no view)";
  if (typeof view !== "number") return "nobody";
  return view === at ? "itself" : roleOf(row, view, at);
}

function roleOf(row: Row, at: number | null, holder: number | null): string {
  if (at === null) return "nobody";
  const node = row.nodes[at];
  if (at === holder) return "the chosen one";
  if (node === undefined || !doesClaim(node)) return "a node without a claim";
  return holder === null ? "a claimant" : "another claimant";
}

function sentence({ status, view, isFailsafe }: NodeState, at: number): string {
  const does = status === "claims" ? `claims${isFailsafe ? " in failsafe" : ""} and` : "claims nothing and";
  const named =
    view === "none"
      ? "has no view"
      : `names ${typeof view === "number" ? (view === at ? "itself" : nameOf(view)) : "nobody"}`;
  return `${nameOf(at)} ${status === "silent" ? "(no answer)" : does} ${named}`;
}

function flags({ isPaused, incumbent }: Row): string {
  return `${isPaused ? "; paused" : ""}${incumbent === null ? "" : `; ${nameOf(incumbent)} is the last accepted leader`}`;
}

function rank({ claims, chosen, own }: Group): string {
  return `${claims} ${chosen} ${own}`;
}
