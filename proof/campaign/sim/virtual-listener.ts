import { answerSourcesOf, type AnswerSources } from "../../../src/app/handlers/answer-sources.ts";
import { buildListenerHandler, type Backend } from "../../../src/app/handlers/listener-handler.ts";
import type { Config, ListenerConfig } from "../../../src/core/config/model/config.ts";
import { AnswerCounter } from "../../../src/core/http/message/answer-counter.ts";
import type { ListenerHandler } from "../../../src/core/http/message/handler.ts";
import type { IncomingCall } from "../../../src/core/http/message/incoming-call.ts";

const refuses: Backend = {
  passthrough: { manage: () => Promise.reject(unexpected()), fetch: () => Promise.reject(unexpected()) },
  admin: () => Promise.reject(unexpected()),
  diagnostics: () => Promise.reject(unexpected()),
  rest: () => Promise.reject(unexpected()),
};

function unexpected(): Error {
  return new Error("Cannot answer: the simulation sends only checks");
}

/** Counts the answers of all simulated runs of a process. */
const counter = new AnswerCounter();

/** What answers are made of. */
export function sourcesOf({
  store,
  clock,
}: Pick<Parameters<typeof answerSourcesOf>[0], "store" | "clock">): AnswerSources {
  return answerSourcesOf({
    store,
    clock,
    phase: () => "serving",
    counter,
    lateness: () => ({ isLate: false, isWithdrawn: false }),
    portOf: () => 0,
  });
}

/** The handler of a listener that answers checks and nothing else. */
export function handlerOf(listener: ListenerConfig, config: Config, sources: AnswerSources): ListenerHandler {
  return buildListenerHandler({ listener, config }, sources, refuses);
}

/** A check needs no more of a call than its request. */
export function callOf(method: string, target: string, host = "rolecall"): IncomingCall {
  const request = { method, target, host, nodeHeader: undefined, serverState: undefined };
  return { request } as unknown as IncomingCall;
}
