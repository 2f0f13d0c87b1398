import type { ApiContext, ListenerApi, ListenerInConfig } from "../../core/feature/listener-api.ts";
import type { ListenerHandler, RequestHandler } from "../../core/http/message/handler.ts";
import type { Reply } from "../../core/http/message/reply.ts";
import type { Request } from "../../core/http/message/request.ts";
import type { AnswerSources } from "./answer-sources.ts";

/** The handler of a listener that an API of a feature answers: from memory, else by `rest`. */
export function apiHandler(
  api: ListenerApi,
  inConfig: ListenerInConfig,
  { sources, rest }: { readonly sources: AnswerSources; readonly rest: RequestHandler },
): ListenerHandler {
  let answer: ((request: Request) => Reply | null) | null = null;
  const loading = loadedOnce(async () => (answer = (await api.loadMemory())(inConfig, sources)));
  // Begins at once, so that the first check does not wait. The next request that needs it gets the error of a failure.
  loading().catch(() => {});
  const handler: RequestHandler = async (call) => (answer ?? (await loading()))(call.request) ?? rest(call);
  return Object.assign(handler, { changesState: (request: Request) => api.changesState(request, inConfig.config) });
}

/** Answers in the main process what an API does not answer from memory. */
export function apiRest(
  api: ListenerApi,
  inConfig: ListenerInConfig,
  { sources, context }: { readonly sources: AnswerSources; readonly context: ApiContext },
): RequestHandler {
  const rest = loadedOnce(async () => (await api.loadRest())(inConfig, sources, context));
  return async (call) => (await rest())(call);
}

/** Loads on the first call, and again after one that failed. */
function loadedOnce<Value>(load: () => Promise<Value>): () => Promise<Value> {
  let loaded: Promise<Value> | null = null;
  return () => {
    loaded ??= load().catch((error: unknown) => {
      loaded = null;
      throw error;
    });
    return loaded;
  };
}
