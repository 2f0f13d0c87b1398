import { nodeNamed } from "../../../core/cluster/lookup.ts";
import type { ClusterView } from "../../../core/health/evidence/leadership/cluster-view.ts";
import { explain } from "../../../core/health/rules/explain.ts";
import { explanationText, remarksOn } from "../../../core/health/documents/explanation-document.ts";
import type { IncidentFile } from "../file/incident-file.ts";
import { answerTo, parseQuestion, type Question } from "./question.ts";
import { replay } from "./replay.ts";

/** What the replay of an incident found: the number of expected answers, and those that differ, one text each. */
export interface ExpectationResult {
  readonly expected: number;
  readonly differing: readonly string[];
}

/**
 * Replays an incident and compares the answers with the expected ones.
 * @throws Error for an expectation about an unknown node or check
 */
export function checkExpectations(incident: IncidentFile): ExpectationResult {
  const questions = new Map<string, Question>();
  const questionOf = (text: string): Question => {
    const known = questions.get(text) ?? parseQuestion(text, incident);
    questions.set(text, known);
    return known;
  };
  let expected = incident.flips.length;
  const differing: string[] = [];
  const tallies = incident.flips.map((flips) => ({ ...flips, last: "", count: -1 }));
  for (const { view, moment } of replay(incident)) {
    expected += moment.expected.length;
    for (const [text, wanted] of moment.expected) {
      const answers = answerTo(view, questionOf(text));
      if (!answers.includes(wanted))
        differing.push(
          `${moment.place}, ${moment.atMs / 1000}s: ${text} must be ${wanted}, got ${answers[0]}${why(view, questionOf(text), text)}`,
        );
    }
    for (const tally of tallies) {
      const [answer = ""] = answerTo(view, questionOf(tally.question));
      if (answer !== tally.last) tally.count += 1;
      tally.last = answer;
    }
  }
  for (const { question, least, most, count } of tallies) {
    if (count < least || count > most)
      differing.push(`changes of ${question} must be from ${least} to ${most}, got ${count}`);
  }
  return { expected, differing };
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
    remarks: remarksOn(view, observation),
  };
  return `\n${explanationText({ ...explain(view, observation, check), ...about })}`;
}
