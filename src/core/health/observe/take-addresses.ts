import { noContact, type Contact } from "../../cluster/contact.ts";
import type { ClusterDocument } from "../../cluster/documents/cluster-document.ts";
import type { StatusOutcome } from "../../cluster/outcome.ts";
import type { ClusterState } from "../../cluster/snapshot.ts";
import { isOwnFailure } from "../../cluster/values/failure.ts";
import { withFailure } from "../evidence/node/fall-and-rise.ts";
import { maxAgeMs } from "../evidence/node/freshness.ts";
import { viewOf } from "../evidence/leadership/leader-views.ts";
import { isMisaddressed, isOutOfScope } from "../evidence/node/identity.ts";
import { seedProofs } from "../evidence/node/seed-addresses.ts";
import { distrustedServers } from "../evidence/node/servers.ts";
import type { EvaluationContext, HealthPolicy } from "../health-policy.ts";
import { applyReport, withAnswer } from "./apply-report.ts";
import { withMembers } from "./membership.ts";
import { settleAddresses } from "./settle-addresses.ts";

/**
 * Records what a server answered at an address that no proved node has (rule 10), and gives each member the address
 * that proves itself for it. The answer is evidence about a member only once its address is that member's.
 */
export function applyContact(cluster: ClusterState, outcome: ContactOutcome, context: EvaluationContext): ClusterState {
  const { api } = outcome;
  const before = cluster.contacts.get(api) ?? noContact;
  if (outcome.sentAtMs < (before.answer?.sentAtMs ?? -Infinity)) return cluster;
  const after = contactAfter(before, outcome);
  const contacts = new Map(cluster.contacts).set(api, after);
  const next = withUnproved({ ...cluster, contacts }, outcome, context);
  return hasNewIdentity(before, after, context.policy) ? withSettledAddresses(next, context) : next;
}

/** Whether an outcome may change which address is whose: a server appears, falls silent, or is another one. */
function hasNewIdentity(before: Contact, after: Contact, { fall }: HealthPolicy): boolean {
  const [one, other] = [before.answer?.report, after.answer?.report];
  return (
    before.wasAsked !== after.wasAsked ||
    before.failuresInRow >= fall !== after.failuresInRow >= fall ||
    (before.namedInRow < seedProofs && after.namedInRow >= seedProofs) ||
    one?.name !== other?.name ||
    one?.scope !== other?.scope ||
    one?.system !== other?.system
  );
}

function contactAfter(before: Contact, { result, sentAtMs, sentAtWallMs }: ContactOutcome): Contact {
  const asked = { ...before, wasAsked: true };
  if (!("failure" in result)) {
    const isSameName = result.report.name !== null && result.report.name === before.answer?.report.name;
    const namedInRow = isSameName ? before.namedInRow + 1 : 1;
    return { ...asked, answer: { ...result, sentAtMs, sentAtWallMs }, failuresInRow: 0, failure: null, namedInRow };
  }
  // A request that was never sent says nothing about the server.
  if (isOwnFailure(result.failure)) return asked;
  return { ...asked, failuresInRow: before.failuresInRow + 1, failure: result.failure, namedInRow: 0 };
}

/** The result of a probe of an address. */
export type ContactOutcome = Pick<StatusOutcome, "sentAtMs" | "sentAtWallMs" | "result"> & { readonly api: string };

/** Shows at the nodes that a list gives the address what speaks against it: that it fails, or is another server's. */
function withUnproved(
  cluster: ClusterState,
  { api, result, sentAtMs, sentAtWallMs }: ContactOutcome,
  { policy }: EvaluationContext,
): ClusterState {
  const nodes = cluster.nodes.map((known) => {
    if (known.node.api !== api || known.proof !== "none") return known;
    if ("failure" in result) {
      const { failure } = result;
      return isOwnFailure(failure) ? known : withFailure(known, { failure, sentAtMs }, policy);
    }
    const { report } = result;
    const answered = withAnswer(
      known,
      { report, hasLock: false, sentAtMs, sentAtWallMs },
      { policy, maxAge: maxAgeMs(cluster, policy) },
    );
    const isAnothers = isMisaddressed(known.node, report) || isOutOfScope(cluster, report);
    return isAnothers ? answered : { ...answered, report: null, sentAtMs: -Infinity };
  });
  return { ...cluster, nodes };
}

/** Records the member list of a server at an address that no proved node has. */
export function withContactView(
  cluster: ClusterState,
  document: ClusterDocument,
  { api, sentAtMs, nowMs }: { readonly api: string; readonly sentAtMs: number; readonly nowMs: number },
): ClusterState {
  const contact = cluster.contacts.get(api) ?? noContact;
  if ((contact.view?.sentAtMs ?? -Infinity) > sentAtMs) return cluster;
  const view = viewOf(cluster, document, { sentAtMs, nowMs, received: null, before: contact.view });
  return { ...cluster, contacts: new Map(cluster.contacts).set(api, { ...contact, view }) };
}

/** Forgets the lists of servers that an operator distrusts, at addresses that no proved node has, too. */
export function withoutDistrustedLists(cluster: ClusterState, context: EvaluationContext): ClusterState {
  const apis = distrustedServers(cluster, context);
  if (apis.size === 0) return cluster;
  const contacts = [...cluster.contacts].map(
    ([api, contact]) => [api, apis.has(api) ? { ...contact, view: null } : contact] as const,
  );
  return { ...cluster, contacts: new Map(contacts) };
}

/**
 * Settles which address is whose after new evidence (rule 10), and records what answered there as the members' own
 * reports.
 */
export function withSettledAddresses(cluster: ClusterState, context: EvaluationContext): ClusterState {
  const { policy } = context;
  if (!policy.discovers) return cluster;
  const settled = settleAddresses(withAllAsked(withoutDistrustedLists(cluster, context), policy), context);
  let { state } = settled;
  const answers = settled.taken.flatMap(({ node, contact: { answer } }) => (answer === null ? [] : [{ node, answer }]));
  for (const { node, answer } of answers.toSorted((one, other) => one.answer.sentAtMs - other.answer.sentAtMs)) {
    const at = state.index.get(node);
    const before = at === undefined ? undefined : state.nodes[at];
    if (at === undefined || before === undefined) continue;
    const observation = withAnswer(before, answer, { policy, maxAge: maxAgeMs(state, policy) });
    ({ state } = applyReport(state, { at, before, observation }, context));
  }
  return state;
}

/**
 * Notes once the first request to each configured address has ended (rule 10). Then the scope is the one that most of
 * them state, and their member lists apply.
 */
function withAllAsked(cluster: ClusterState, policy: HealthPolicy): ClusterState {
  if (cluster.hasAskedAll || !policy.configured.every((api) => wasAsked(cluster, api))) return cluster;
  const scope = cluster.scope ?? mostFrequentScope(cluster, policy);
  let next: ClusterState = { ...cluster, scope, hasAskedAll: true };
  for (const api of policy.configured) {
    const { view = null, answer = null } = cluster.contacts.get(api) ?? {};
    const report = answer?.report;
    if (view === null || (report !== undefined && isOutOfScope(next, report))) continue;
    const { members, leader, isPartial, sentAtMs } = view;
    next = withMembers(next, { members: [...members.values()], leader, isPartial, source: api, sentAtMs }, policy);
  }
  return next;
}

function wasAsked({ contacts, nodes }: ClusterState, api: string): boolean {
  return (
    contacts.get(api)?.wasAsked === true ||
    nodes.some((known) => known.node.api === api && (known.report !== null || known.failedAtMs > -Infinity))
  );
}

/** Of scopes that equally many state, the one of the first address in the configuration. */
function mostFrequentScope({ contacts }: ClusterState, { configured }: HealthPolicy): string | null {
  const scopes = configured.flatMap((api) => contacts.get(api)?.answer?.report.scope ?? []);
  const countOf = (scope: string): number => scopes.filter((other) => other === scope).length;
  const most = Math.max(...scopes.map(countOf));
  return scopes.find((scope) => countOf(scope) === most) ?? null;
}
