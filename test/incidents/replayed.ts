import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import { until } from "../fake/until.ts";
import { answerTo, parseQuestion } from "../../src/features/replay/core/question.ts";
import { lastSight, readIncident } from "./play.ts";

/** Waits until a check is answered as expected. @param expected `pg1 /primary: 200 fit` */
export async function seen(base: string, expected: string): Promise<void> {
  const [question = "", wanted] = expected.split(": ");
  let answer = "";
  await until({ what: expected, seconds: 30, evidence: () => `The last answer was ${answer}` }, async () => {
    answer = (await answers(base, [question])).join();
    return answer === wanted;
  });
}

/**
 * Fetches the incident, plays it, and requests the same checks from both. The file ends with the last outcome. Its last
 * answers are therefore the current ones, unless an outcome or the time alone (evidence that turns stale) changed an
 * answer during the fetch.
 * @param base the URL at which rolecall answers for the cluster `demo`
 */
export async function assertReplayed(base: string, questions: readonly string[]): Promise<void> {
  const worded = (said: readonly string[]): readonly string[] =>
    questions.map((question, at) => `${question}: ${said[at]}`);
  for (let attempt = 1; ; attempt += 1) {
    const before = worded(await answers(base, questions));
    const text = await incidentOf(base);
    const after = worded(await answers(base, questions));
    const incident = readIncident(text, "incident.yaml");
    const view = lastSight(incident);
    const replayed = worded(
      questions.map((question) => statusAndReason(answerTo(view, parseQuestion(question, incident)))),
    );
    if (before.join() === after.join() && replayed.join() === before.join()) return;
    if (attempt >= 50) assert.deepEqual([after, replayed], [before, before]);
    await pause(20);
  }
}

/** The rendering of incident files is rate-limited: a client that sends requests too often has to wait. */
async function incidentOf(base: string): Promise<string> {
  for (;;) {
    const reply = await fetch(`${base}/incident?cluster=demo`);
    const text = await reply.text();
    if (reply.status !== 429) return text;
    await pause(1_000 * Number(reply.headers.get("retry-after")));
  }
}

function statusAndReason(words: readonly string[]): string {
  return words.find((one) => /^\d/.test(one)) ?? assert.fail(`no status among ${words.join()}`);
}

function answers(base: string, questions: readonly string[]): Promise<readonly string[]> {
  return Promise.all(
    questions.map(async (question) => {
      const [node = "", target = ""] = question.split(" ");
      const reply = await fetch(`${base}/nodes/${node}${target}`);
      await reply.arrayBuffer();
      return `${reply.status} ${reply.headers.get("x-rolecall-reason") ?? "fit"}`;
    }),
  );
}
