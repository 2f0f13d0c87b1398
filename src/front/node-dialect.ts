import { LRUCache } from "lru-cache";
import type { Snapshot } from "../cluster/snapshot.ts";
import { look } from "../health/sight.ts";
import { trueUntilMs } from "../health/horizon.ts";
import { hostConflict, type HostNode } from "./address.ts";
import { answer, type AnswerableQuestion, type Evidence } from "./answer.ts";
import { HotAnswers, type Rendered } from "./hot-answers.ts";
import { operatorPaths } from "./operator-paths.ts";
import { withoutPage } from "./page.ts";
import { isHandedOver, type HandedOver, type Passage } from "./passage.ts";
import { badRequest, type Reply } from "./reply.ts";
import { renderReply } from "./rendered.ts";
import { readSimpleRequest } from "./request-head.ts";
import type { Request } from "./request.ts";
import { understand, type Listening, type Question } from "./understand.ts";

/** How many characters of questions a listener remembers: some thousand different ones, far more than balancers ask. */
const rememberedMax = 1_000_000;

/** Told of each answer, for the tally. */
export type OnAnswer = (route: string, status: number) => void;

/** What the dialect answers from, and what takes the rest. The app hands it in. */
export interface DialectSources {
  readonly evidence: () => Evidence;
  readonly snapshot: () => Snapshot;
  /** Our clock, in ms. */
  readonly now: () => number;
  /** Answers what a person asks; `null` where it is not that. */
  readonly operator: (request: Request) => Reply | HandedOver | null;
  readonly passage: Passage;
  readonly onAnswer: OnAnswer;
}

/** Answers the node dialect: a question that was understood once is not taken apart again. */
export class NodeDialect {
  readonly #listening: Listening;
  readonly #sources: DialectSources;
  readonly #understood = new LRUCache<string, Question>({ maxSize: rememberedMax, sizeCalculation: (_, key) => key.length + 200 });

  constructor(listening: Listening, sources: DialectSources) {
    this.#listening = listening;
    this.#sources = sources;
  }

  handle(request: Request): Reply | HandedOver {
    const question = this.#question(request);
    const { passage, evidence, onAnswer } = this.#sources;
    if (question.kind === "management") return { take: (passed) => passage.manage(question.call, passed) };
    if (question.kind === "node_question") return { take: (passed) => passage.fetch(question.question, passed) };
    if (question.kind === "operator_off") {
      const off = answer(question, request, evidence());
      return withoutPage(off, { name: question.path, onAnswer: (status) => onAnswer("operator", status) });
    }
    const reply = question.kind === "operator" ? this.#operator(request) : answer(question, request, evidence());
    if (!isHandedOver(reply)) onAnswer(nameOf(question), reply.status);
    return reply;
  }

  /** The answers of this dialect for the fast lane, none rendered yet. */
  quick(): HotAnswers {
    return new HotAnswers({
      facts: (cluster) => {
        const { parts, index } = this.#sources.snapshot();
        return parts[index.get(cluster) ?? -1]?.facts;
      },
      now: () => this.#sources.now(),
      render: (text) => this.render(text),
    });
  }

  /**
   * Renders the answer to a chunk that is one simple request about a cluster's nodes.
   * @param text the chunk's bytes as latin1
   * @returns `null` for everything else: what is not understood, our own health, documents with an age
   */
  render(text: string): Rendered | null {
    const simple = readSimpleRequest(text);
    if (simple === null) return null;
    const { request, keepsConnection } = simple;
    const question = this.#question(request);
    if (question.kind !== "check" && question.kind !== "status") return null;
    const evidence = this.#sources.evidence();
    const { cluster, otherByHost: other } = question.address;
    // The answer also depends on the members of a cluster whose facts it is not remembered by.
    if (other !== null && other.cluster !== cluster) return null;
    const part = evidence.snapshot.parts[evidence.snapshot.index.get(cluster) ?? -1];
    const settings = evidence.settings(cluster);
    if (part === undefined || settings === undefined) return null;
    const reply = answer(question, request, evidence);
    const route = nameOf(question);
    const limitsTime = question.kind === "check" && question.check.lagTimeMsMax !== null;
    return {
      bytes: renderReply(reply, { method: request.method, keepsConnection }),
      keepsConnection,
      cluster,
      facts: part.facts,
      untilMs: trueUntilMs(look(part, settings, evidence.nowMs), limitsTime),
      count: () => this.#sources.onAnswer(route, reply.status),
    };
  }

  #operator(request: Request): Reply | HandedOver {
    return this.#sources.operator(request) ?? badRequest({ thing: "route", value: request.target, allowed: operatorPaths.join(", ") });
  }

  #question(request: Request): Question {
    // None of the four can hold a space or a line break, so the key is theirs alone.
    const key = `${request.method} ${request.target} ${request.nodeHeader ?? ""}\n${this.#listening.bound.hostSuffixes.length === 0 ? "" : (request.host ?? "")}`;
    let question = this.#understood.get(key);
    if (question === undefined) {
      question = understand(request, this.#listening);
      this.#understood.set(key, question);
    }
    const other = otherByHost(question);
    if (other === null) return question;
    // The members may change, so this is looked up each time.
    const problem = hostConflict(other, this.#sources.snapshot());
    return problem === null ? question : { kind: "bad_request", problem };
  }
}

function otherByHost(question: Question): HostNode | null {
  if ("otherByHost" in question) return question.otherByHost;
  return "address" in question ? question.address.otherByHost : null;
}

/** The route as the tally counts it: one of a few names, whatever is asked. */
function nameOf(question: AnswerableQuestion | { readonly kind: "operator" }): string {
  switch (question.kind) {
    case "check":
      return question.check.route;
    case "document":
      return question.name;
    case "self":
      return question.path;
    case "operator_off":
      return "operator";
    case "operator":
    case "status":
    case "bad_request":
    case "not_allowed":
    case "forbidden":
      return question.kind;
  }
}
