import type { Recorded } from "../cluster/outcome.ts";
import type { Snapshot } from "../cluster/snapshot.ts";

import type { Settings } from "../health/settings.ts";
import type { LoggedChange } from "../health/summary.ts";
import { hostConflict, resolveAddress, type Address, type Bound } from "./address.ts";
import { explainReply } from "./explain-reply.ts";
import { incidentReply } from "./incident-reply.ts";
import type { operatorQuestions } from "./operator-paths.ts";
import { paged, type Rendering } from "./page.ts";
import type { PageGate } from "./page-gate.ts";
import type { HandedOver } from "./passage.ts";
import { badRequest, errorReply, jsonReply, printable, type Reply } from "./reply.ts";
import { safeMethods, type Request } from "./request.ts";
import { statusReply } from "./status-page.ts";
import { parseTarget, type Target } from "./target.ts";

/** What an operator's questions are answered from. The app hands it in. */
export interface OperatorSources {
  readonly snapshot: () => Snapshot;
  readonly settings: (cluster: string) => Settings | undefined;
  /** Our clock, and wall time, in ms. */
  readonly now: () => number;
  readonly wall: () => number;
  readonly changes: (cluster: string, node: string) => readonly LoggedChange[];
  readonly recorded: (cluster: string, fromWallMs: number, toWallMs: number) => readonly Recorded[];
  /** Limits how many pages are rendered at a time, and how often. */
  readonly gate: PageGate;
  /** Called with the status of each page that is answered. */
  readonly onAnswer?: (status: number) => void;
  /** Who was accused of being detached or stalled at a wall-clock instant, by node. */
  readonly accused: (cluster: string, wallMs: number) => ReadonlyMap<string, readonly string[]>;
}

/** A question with what its query says. */
export interface Asked {
  readonly address: Address;
  readonly query: URLSearchParams;
}

type Answering = (asked: Asked, sources: OperatorSources, rendering: Rendering) => Reply | Promise<Reply | null>;

const answering: { readonly [question in (typeof operatorQuestions)[number]]: Answering } = {
  explain: explainReply,
  verdicts: verdictsReply,
  incident: incidentReply,
};
const questions: ReadonlyMap<string, Answering> = new Map(Object.entries(answering));

/**
 * Answers what a person asks: `/status`, `/explain?node=…&check=…`, `/nodes/{node}/verdicts`, `/incident?around=…`. The node may be named
 * in every way a check may name it, and by `node=`. Pages are rendered one at a time, in slices.
 * @returns `null` where the path is none of these
 */
export function answerOperator(request: Request, bound: Bound, sources: OperatorSources): Reply | HandedOver | null {
  const target = parseTarget(request.target);
  if ("problem" in target) return null;
  const question = questions.get(target.path);
  const isOverview = target.path === "status" && target.node === null;
  if (question === undefined && !isOverview) return null;
  if (!safeMethods.includes(request.method)) {
    const allow = safeMethods.join(", ");
    return errorReply(405, "method_not_allowed", {
      message: `Cannot ${request.method} this path: allowed is ${allow}`,
      headers: ["Allow", allow],
    });
  }
  const { gate, onAnswer = () => {} } = sources;
  if (question === undefined) {
    const clusters = [bound.cluster, target.cluster];
    return paged({ gate, name: "status", onAnswer, render: (rendering) => statusReply(clusters, sources, rendering) });
  }
  const query = new URLSearchParams(target.query);
  const address = resolveAddress(namedBy(target, query), request, { ...bound, wholeCluster: true });
  if ("problem" in address) return badRequest(address.problem);
  const problem = hostConflict(address.otherByHost, sources.snapshot());
  if (problem !== null) return badRequest(problem);
  return paged({ gate, name: target.path, onAnswer, render: (rendering) => question({ address, query }, sources, rendering) });
}

/** `node=pg2`, `node=demo/pg2` and `cluster=demo` name what the path does not. */
function namedBy(target: Target, query: URLSearchParams): Target {
  const node = query.get("node");
  const check = query.get("check");
  const inner = check === null ? null : parseTarget(check);
  const asked = inner === null || "problem" in inner ? null : inner;
  const cut = node?.lastIndexOf("/") ?? -1;
  const byNode = node === null ? null : { node: node.slice(cut + 1), cluster: cut < 0 ? null : node.slice(0, cut) };
  return {
    ...target,
    node: target.node ?? byNode?.node ?? asked?.node ?? null,
    cluster: target.cluster ?? byNode?.cluster ?? query.get("cluster") ?? asked?.cluster ?? null,
  };
}

function verdictsReply({ address }: Asked, sources: OperatorSources): Reply {
  const { cluster, node } = address;
  if (node === null) return badRequest({ thing: "node", value: "none named", allowed: "/nodes/{node}/verdicts" });
  const part = sources.snapshot().parts[sources.snapshot().index.get(cluster) ?? -1];
  if (part?.index.has(node) !== true)
    return badRequest({ thing: "node", value: node, allowed: `one of ${[...(part?.index.keys() ?? [])].join(", ")}` });
  const changes = sources
    .changes(cluster, node)
    .map(({ atWallMs, before, after, failure }) => ({ at: new Date(atWallMs).toISOString(), before, after, failure }));
  return jsonReply({ code: 200, phrase: "OK" }, JSON.stringify({ cluster, node, changes }), ["X-Rolecall-Node", printable(node)]);
}
