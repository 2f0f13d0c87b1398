import type { DecisionBasis, LeaderDecision } from "../../../../src/cluster/leadership.ts";
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

const head = `# Who leads if the evidence is ambiguous

In one snapshot at most one node is accepted as the lock holder. One function, \`src/health/evidence/leadership/leadership.ts\`,
decides which node that is. It uses two kinds of evidence:

* a **claim**: the node answers \`GET /leader\` with 200. A node that is known through its exporter alone claims the
  lock if the exporter reports a primary;
* a **view**: the leader that a node's \`/cluster\` response names. A view may name nobody. It is missing if the request
  fails or the node has no API.

\`rolecall explain\` shows which views decided an answer.

The rule does not fence. Two rolecall instances may accept different nodes, and one instance may accept the wrong one.
The rule shortens the time in which this can happen, provided that some nodes or documents report the truth.

## The rule

First, views may contradict claims:

1. A view **contradicts** a claim if rolecall requested it after the claim appeared, and it names another node, or
   nobody. Exception: a view that names its own node contradicts no claim. If that node claims the lock, the claims
   compete.
2. A view that names nobody contradicts a claim only if two views from the same node, requested at least one probe
   interval apart, name nobody. Exception: it contradicts no claim of a node that reports a pause.
3. A view that names a node does not contradict if that node denies it. To deny it, the node must report that it holds
   no lock. That report must be newer than the view, and come from the address that the view has for the node.
4. A contradiction **begins** with the first of the successive views of one node that name the same, not counting views
   from before the claim. If they name nobody, it begins with the view that fulfils step 2. It takes effect when both of
   these have answered or failed: the claimant's own \`/cluster\`, requested when the contradiction began or later; and
   the node that the newest of the views names, if any, probed after that view.

Then contradicted claims are **lost**:

5. A claim in failsafe mode is never lost to views.
6. Any other claim is lost if the claimant's own view contradicts it.
7. A claim that is not in failsafe mode is also lost in two cases:
   * the views of two other nodes contradict it;
   * the view of one other node contradicts it, and the claimant's own view, requested at the same time or later,
     names another node or nobody. In this case, the claimant's own view need not contradict the claim. It may
     name nobody for the first time (step 2), or name a node that denies holding the lock (step 3).
8. A lost claim stays lost while views contradict it by steps 6 and 7. For this, a contradiction takes effect at once,
   and a single view that names nobody is enough. After that, it stays lost until a newer view names the claimant, or
   until every node whose view contradicted it has given a newer view. Missing views do not restore a claim.

With a [DCS](dcs.md) (key \`dcs\`), a claim is also lost, whatever the views are, if the leader key named the claimant and
has changed in one of two ways:

* the key names another node. Step 5 does not apply in this case;
* the key names nobody, and the claimant reports neither a pause nor failsafe mode. Its report counts if it is fresh
  when the key is read, or newer.

A linearizable read must have confirmed the change. The claim is no longer lost when the key names the claimant again,
or when the claim has gone on for a whole \`ttl\` after that read. The DCS restores no claim that views contradict.

Last, one of the other claims is chosen:

9. If no claim is left, nobody leads. If one is left, it is accepted.
10. If several are left, rolecall counts only views that it requested after the newest of these claims appeared. It does
    not count the views of the competing claimants here. The claim that most of the counted views name is accepted.
11. In a tie: if exactly one of the tied claimants names itself in its view, its claim is accepted.
12. If that decides nothing, the claim of the last accepted leader is accepted, if it is one of the tied ones. A node
    whose address has changed since is not the last accepted leader: another server may answer there.
13. If that decides nothing, the tied claim on the highest known timeline is accepted.
14. Otherwise nobody leads: all remaining claims are \`contested\`.

A claim may be refused although no view contradicts it, because another claim is accepted. The end of the other claim
proves nothing for it:

15. A claim is **marked** if another node is accepted, and the view of a third node, requested after the claim appeared,
    names somebody else. A third node is neither the claimant nor the accepted node. A view that names its own node, or
    nobody, marks no claim.
16. A marked claim is not accepted, however the other claim ends, and even if its node reports no lock in between. It
    may be accepted by step 10 while other claims compete with it.
17. The mark is of the node at its present address. It ends in four cases:
    * the view of a third node names the claimant, and is newer than the views that marked the claim;
    * no view of a third node counts against the claim. rolecall must have asked all third nodes since the claim
      appeared, but waits for that no longer than a view counts (11.5 s);
    * the claim is accepted;
    * the node reports that it holds no lock, while another node is accepted.
18. The view of a third node counts against a marked claim if it names another node, but not its own, or if it names
    nobody. There are three limits:
    * If the named node denies that it holds the lock (step 3), the view counts for one cluster interval (3 s) more.
    * If the named node has been silent for \`ttl\` and \`loop_wait\`, the view counts only while its witness still gets
      WAL: it reports that it streams, its exporter shows that it streams, or it has received more WAL since its view
      before.
    * Two views in a row that name nobody do not count while the claimant reports a pause or failsafe mode.

In a cluster of two nodes there is no third node, so no claim is marked. With \`/cluster\` hanging everywhere, a marked
claim is accepted as soon as the last view against it is 11.5 s old, even if it is that of a restored clone. rolecall
makes this choice because the claim may as well be that of a new leader: nothing else would ever tell the two apart.
\`state_file\` keeps the marks. After a restart a marked claim is not accepted before the third nodes have answered, but
for 11.5 s at most.

Views arrive one after the other. While rolecall still waits for a view that could change the result of step 10 or 11,
the claims stay tied there, and steps 12 to 14 decide.

The claim of a node that is known through its exporter alone shows a primary, not a lock. Therefore views that name
nobody do not contradict it. The node has no view of its own, so in step 7 the view of one other node is enough. If
another node claims the lock by its API, only the claims by API compete. If all competing claims are by exporter, steps
10 to 13 do not apply: the claim of the node that the standbys receive WAL from is accepted. If that decides nothing,
all are \`contested\`.

## The test

A test generates every combination for two and three nodes. Each node claims the lock, claims nothing, or gives no
answer: it does not answer \`GET /leader\` (its \`/cluster\` may still be known). A claimant may be in failsafe mode. The
view of each node names any node or nobody, or is missing. The cluster may be paused. The last accepted leader may be
any of the nodes or unknown.

For each combination the test looks for the likeliest explanations. An explanation assumes a true leader: a node or
nobody. A node whose claim or view does not agree with that leader counts as faulty. The likeliest explanation has the
fewest faulty nodes.

## Ambiguous combinations

The table lists the combinations in which another explanation is as likely as the choice, or likelier. There are two
cases:

* several explanations are equally likely, or
* the rule does not choose the likeliest one. Reasons are that a claim in failsafe mode is never lost (step 5), that a
  node's own view outweighs the number of other views (steps 6, 7 and 11), and that views of competing claimants are
  not counted (step 10).

The ambiguity lasts until a node answers differently. In all other combinations the choice is the likeliest explanation.

| claims | chosen | named by the chosen node's view | leaders in the likeliest explanations | combinations | example |
|---|---|---|---|---|---|
`;

/** Renders docs/leadership.md with the table of ambiguous rows. With UPDATE_DOCS=1 its test writes the file. */
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
        `| ${group.claims} | ${group.chosen} | ${group.own} | ${[...group.truths].toSorted().join("; ")} | ${group.rows} | ${group.example} |`,
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
