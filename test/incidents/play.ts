import { nodeNamed } from "../../src/cluster/lookup.ts";
import { noAttachment } from "../../src/cluster/attachment.ts";
import { neverProbed } from "../../src/cluster/observation.ts";
import type { ClusterState } from "../../src/cluster/snapshot.ts";
import { statusOf } from "../../src/health/verdict-status.ts";
import { explanationText } from "../../src/http/diagnostics/explain-reply.ts";
import { parseRequestTarget } from "../../src/http/message/request-target.ts";
import { parseCheck, type Check } from "../../src/health/check.ts";
import { explain } from "../../src/health/explain/explain.ts";
import { withNodes } from "../../src/health/observe/membership.ts";
import { observe } from "../../src/health/observe/observe.ts";
import { judgeMember, judgePool } from "../../src/health/judge/pool.ts";
import { routeOf } from "../../src/health/route.ts";
import { viewAt, type ClusterView } from "../../src/health/evidence/cluster-view.ts";
import { emptyCluster } from "../../src/state/clusters.ts";
import type { Incident, Moment } from "./incident.ts";

/** The requested check of one node, or of the whole cluster (`null`). */
interface Question {
  readonly node: string | null;
  readonly check: Check;
}

/**
 * Plays an incident against the pure judgement, with a clock of its own.
 * @returns the answers that differ from the expected ones, one line each
 */
export function play(incident: Incident): readonly string[] {
  const questions = new Map<string, Question>();
  const questionOf = (text: string): Question => {
    const known = questions.get(text) ?? parseQuestion(text, incident);
    questions.set(text, known);
    return known;
  };
  const found: string[] = [];
  const tallies = incident.flips.map((flips) => ({ ...flips, last: "", count: -1 }));
  for (const { view, moment } of unfold(incident)) {
    for (const [text, expected] of moment.expected) {
      const wording = answerTo(view, questionOf(text));
      if (wording.every((words) => words !== expected))
        found.push(
          `${moment.place}, ${moment.atMs / 1000}s: ${text} must be ${expected}: it is ${wording[0]}${why(view, questionOf(text), text)}`,
        );
    }
    for (const tally of tallies) {
      const [answer = ""] = answerTo(view, questionOf(tally.question));
      if (answer !== tally.last) tally.count += 1;
      tally.last = answer;
    }
  }
  for (const { question, least, most, count } of tallies) {
    if (count < least || count > most) found.push(`flips of ${question}: ${count}, must be from ${least} to ${most}`);
  }
  return found;
}

/** The final state of the cluster, for tests that check more than the file does. */
export function lastSight(incident: Incident): ClusterView {
  let last = viewAt(beginning(incident), incident.policy, 0);
  for (const { view } of unfold(incident)) last = view;
  return last;
}

function* unfold(incident: Incident): Generator<{ readonly view: ClusterView; readonly moment: Moment }> {
  const { policy } = incident;
  let cluster = beginning(incident);
  for (const moment of incident.moments) {
    for (const outcome of moment.outcomes) cluster = observe(cluster, outcome, { policy, nowMs: moment.atMs });
    yield { view: viewAt(cluster, policy, moment.atMs), moment };
  }
}

function beginning({ cluster, scope, nodes, accused }: Incident): ClusterState {
  const observations = nodes.map((node) => {
    const words = accused.get(node.name) ?? [];
    const attachment = {
      ...noAttachment,
      isDetached: words.includes("detached"),
      isStalled: words.includes("stalled"),
    };
    return { ...neverProbed(node), attachment };
  });
  return withNodes(emptyCluster({ name: cluster, scope, discover: [] }), observations);
}

/**
 * The accepted spellings of the answer: `lagging`, `503 lagging`. For a positive answer also `fit`, or `degraded`. For
 * a whole cluster also `fit pg1`.
 */
export function answerTo(view: ClusterView, { node, check }: Question): readonly string[] {
  const observation = nodeNamed(view.cluster, node);
  const { verdict, chosen } =
    observation === undefined
      ? judgePool(view, check)
      : { verdict: judgeMember(view, observation, check), chosen: null };
  if (!verdict.fit) return [verdict.reason, `${statusOf(verdict, check)} ${verdict.reason}`];
  if (verdict.isDegraded) return ["degraded", ...(chosen === null ? [] : [`degraded ${chosen.node.name}`])];
  return ["fit", "200 fit", ...(chosen === null ? [] : [`fit ${chosen.node.name}`])];
}

/** Reads `pg2 /replica?lag=1MB`, or `/primary` for the whole cluster. */
export function parseQuestion(text: string, { nodes, policy }: Pick<Incident, "nodes" | "policy">): Question {
  const [first = "", second] = text.split(" ");
  const [node, target] = second === undefined ? [null, first] : [first, second];
  if (node !== null && nodes.every(({ name }) => name !== node))
    throw new Error(`Cannot ask ${text}: there is no node ${node}`);
  const parsed = parseRequestTarget(target);
  const route = "problem" in parsed ? undefined : routeOf(parsed.path);
  if ("problem" in parsed || route === undefined) throw new Error(`Cannot ask ${text}: ${target} is no check`);
  const rules = { ignoreParams: [], ignoresUnknown: false, defaults: "", lagTimeMsMin: 2 * policy.intervalMs };
  const check = parseCheck(route, parsed.query, rules);
  if (!check.ok)
    throw new Error(
      `Cannot ask ${text}: ${check.problem.subject} must be ${check.problem.allowed}: it is ${check.problem.value}`,
    );
  return { node, check: check.check };
}

function why(view: ClusterView, { node, check }: Question, text: string): string {
  const observation = nodeNamed(view.cluster, node);
  if (observation === undefined) return "";
  const about = {
    node: observation.node.name,
    cluster: view.cluster.name,
    check: text,
    at: "",
    snapshot: 0,
    instance: "",
  };
  return `\n${explanationText({ ...explain(view, observation, check), ...about })}`;
}
