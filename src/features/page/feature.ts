import type { Feature } from "../../core/feature/feature.ts";
import { refuseUnopened } from "../../core/health/calls/refusal.ts";
import type { FeatureCall } from "../../core/http/admin-api/admin-api.ts";
import { jsonReply, methodNotAllowed, refusalReply, type Reply } from "../../core/http/message/reply.ts";
import { safeMethods, safeMethodsAllowHeader } from "../../core/http/message/request.ts";
import { isLivePagePath, livePageReply } from "../../core/http/pages/page-reply.ts";
import { answerLag } from "./lag-api.ts";
import type { RunningPage } from "./open-page.ts";
import { answerSession } from "./session-api.ts";

/** The live page for browsers on admin listeners, and what it alone reads (docs/page.md). */
export const page: Feature<RunningPage> = {
  name: "page",
  isUsed: ({ listen }) => listen.some(({ dialect }) => dialect === "admin"),
  load: async () => (await import("./open-page.ts")).openPage,
  routes: {
    "events/stream": (running, about) => {
      if (about.path !== "") return about.noSuchPath();
      if (running === null) return refusalReply(refuseUnopened("open a stream"));
      const scope = { cluster: about.only, clusters: running.clusters() };
      return running.streams.open(about.call, new URLSearchParams(about.query), scope);
    },
    session: (_, about) => (about.path === "" ? answerSession(about) : about.noSuchPath()),
    "": (running, about) => {
      const { call, path } = about;
      if (!isLivePagePath(path, call.message)) return about.noSuchPath();
      if (!safeMethods.includes(call.request.method))
        return methodNotAllowed(call.request.method, safeMethodsAllowHeader);
      return running === null ? refusalReply(refuseUnopened("show a page")) : livePageReply(path, call, running.files);
    },
  },
  clusterRoutes: {
    lag: ifReadOnly((running, cluster, about) => answerLag(cluster, about, running.lag())),
    limits: ifReadOnly(async (running, cluster) => {
      const limits = await running.limits(cluster);
      return jsonReply({ code: 200, phrase: "OK" }, JSON.stringify({ cluster, limits }));
    }),
  },
  metrics: [
    {
      type: "gauge",
      name: "rolecall_streams_open",
      help: "Streams of events that are open: pages and programs that follow this process.",
      read: (running) => running?.streams.counts.open ?? 0,
    },
    {
      type: "counter",
      name: "rolecall_streams_total",
      help: "Streams of events: opened, refused with 429, or ended because the client did not read.",
      read: (running) => {
        const { opened, refused, unread } = running?.streams.counts ?? noStreams;
        return Object.entries({ opened, refused, unread }).map(([outcome, count]) => [{ outcome }, count]);
      },
    },
  ],
  edges: (running) => ({ streams: running?.streams.counts ?? noStreams }),
};

const noStreams: RunningPage["streams"]["counts"] = { open: 0, opened: 0, refused: 0, unread: 0 };

/** What is only read. */
function ifReadOnly(
  answer: (running: RunningPage, cluster: string, about: FeatureCall) => Promise<Reply | null>,
): (running: RunningPage | null, about: FeatureCall) => Reply | Promise<Reply | null> {
  return (running, about) => {
    const { method } = about.call.request;
    if (!safeMethods.includes(method)) return methodNotAllowed(method, safeMethodsAllowHeader);
    if (running === null) return refusalReply(refuseUnopened("read about lag"));
    return answer(running, about.cluster ?? "", about);
  };
}
