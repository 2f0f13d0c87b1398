import type { Observation } from "../cluster/observation.ts";
import type { ClusterPart, DocumentName, Snapshot } from "../cluster/snapshot.ts";
import { parseDatabaseAddress, plainCheck, type Check } from "../health/check.ts";
import { judgeMember, judgePool } from "../health/pool.ts";
import type { Settings } from "../health/settings.ts";
import { look, type Sight } from "../health/sight.ts";
import { unfit } from "../health/verdict.ts";
import type { Address } from "./address.ts";
import { badRequest, errorReply, jsonReply, printable, type Reply } from "./reply.ts";
import type { Request } from "./request.ts";
import type { Question } from "./understand.ts";
import { statusReply, verdictReply, type Answered } from "./verdict-reply.ts";

/** What answers are made from. The app hands it in. */
export interface Evidence {
  readonly snapshot: Snapshot;
  readonly settings: (cluster: string) => Settings | undefined;
  /** Our clock, in ms. */
  readonly nowMs: number;
  /** Whether this process should be sent traffic; `null` when it should, else why not. */
  readonly unready: () => string | null;
}

/** What can be answered from memory. */
export type AnswerableQuestion = Exclude<Question, { readonly kind: "management" | "node_question" | "operator" }>;

/** Answers a question from memory. Pure but for its arguments: nothing waits, nothing is asked, nothing is written. */
export function answer(question: AnswerableQuestion, request: Request, evidence: Evidence): Reply {
  switch (question.kind) {
    case "check":
      return answerCheck(question.address, withStatedDatabase(question.check, request.serverState), evidence);
    case "status":
      return answerStatus(question.address, evidence);
    case "document":
      return answerDocument(question.address, question.name, evidence);
    case "self":
      return answerSelf(question.path, evidence.unready());
    case "bad_request":
      return badRequest(question.problem);
    case "not_allowed":
      return errorReply(405, "method_not_allowed", {
        message: `Cannot ${request.method} this path: allowed is ${question.allow}`,
        headers: ["Allow", question.allow],
      });
    case "operator_off":
      return errorReply(403, "operator_pages_off", {
        message: `Cannot answer /${question.path}: this listener has no operator pages. Request it from an admin listener (dialect: admin), or set operator_pages: true on this one`,
      });
    case "forbidden":
      return errorReply(403, "management_off", {
        message: `Cannot pass ${question.call} on: this listener only answers questions. The listener option management: on changes that`,
      });
  }
}

function answerCheck(address: Address, check: Check, evidence: Evidence): Reply {
  const met = meet(address, evidence);
  if ("reply" in met) return met.reply;
  const { sight, observation } = met;
  const { snapshot } = evidence;
  if (address.node === null) {
    const { verdict, chosen } = judgePool(sight, check);
    return verdictReply({ snapshot, sight, observation: chosen }, verdict, check);
  }
  if (observation === null) return verdictReply({ snapshot, sight, observation }, unfit("unknown"), check);
  return verdictReply({ snapshot, sight, observation }, judgeMember(sight, observation, check), check);
}

/** Of a whole cluster: the document of the primary, else of the node that lags least. */
function answerStatus(address: Address, evidence: Evidence): Reply {
  const met = meet(address, evidence);
  if ("reply" in met) return met.reply;
  const { sight } = met;
  const chosen =
    address.node === null
      ? (judgePool(sight, plainCheck("read-only")).chosen ?? judgePool(sight, plainCheck("health")).chosen)
      : met.observation;
  return statusReply({ snapshot: evidence.snapshot, sight, observation: chosen });
}

function answerDocument(address: Address, name: DocumentName, evidence: Evidence): Reply {
  const met = meet(address, evidence);
  if ("reply" in met) return met.reply;
  const served = met.sight.part.documents[name];
  if (served === null) {
    const message = `Cannot tell /${name} of cluster ${address.cluster}: no node has answered it yet`;
    return errorReply(503, "unknown", { message, headers: ["X-Rolecall-Node", "-", "X-Rolecall-Reason", "unknown"] });
  }
  const age = Math.max(0, Math.round((evidence.nowMs - served.sentAtMs) / 1000));
  const headers = ["X-Rolecall-Node", printable(served.askedOf), "Age", String(age)];
  if (served.status !== 200) return errorReply(served.status, "none", { message: `The cluster has no /${name}`, headers });
  return jsonReply({ code: 200, phrase: "OK" }, served.body, headers);
}

/** Our own health is never a database's: `/livez` says that the process turns, `/readyz` whether to send it traffic. */
export function answerSelf(path: "livez" | "readyz", unready: string | null): Reply {
  if (path === "livez" || unready === null) return jsonReply({ code: 200, phrase: "OK" }, '{"status":"ok"}');
  return jsonReply({ code: 503, phrase: unready }, JSON.stringify({ status: unready }));
}

type Met = Omit<Answered, "snapshot"> | { readonly reply: Reply };

/** Finds the cluster and the node that were named. Before the first member list any name may yet turn out right. */
function meet(address: Address, { snapshot, settings, nowMs }: Evidence): Met {
  const part = snapshot.parts[snapshot.index.get(address.cluster) ?? -1];
  const judged = settings(address.cluster);
  if (part === undefined || judged === undefined) {
    return { reply: badRequest({ thing: "cluster", value: address.cluster, allowed: `one of ${[...snapshot.index.keys()].join(", ")}` }) };
  }
  const sight: Sight = look(part, judged, nowMs);
  if (address.node === null) return { sight, observation: null };
  const observation = find(part, address.node, address.isAnyCase);
  if (observation === undefined && part.hasMembers) {
    return { reply: badRequest({ thing: "node", value: address.node, allowed: `one of ${[...part.index.keys()].join(", ")}` }) };
  }
  return { sight, observation: observation ?? null };
}

function find(part: ClusterPart, name: string, isAnyCase: boolean): Observation | undefined {
  const exact = part.nodes[part.index.get(name) ?? -1];
  if (exact !== undefined || !isAnyCase) return exact;
  return part.nodes.find(({ node }) => node.name.toLowerCase() === name.toLowerCase());
}

/** `address=10.0.0.1; port=5432` of HAProxy's server state says where HAProxy would send the traffic. `db=` comes first. */
function withStatedDatabase(check: Check, serverState: string | undefined): Check {
  if (serverState === undefined || check.database !== null) return check;
  const address = /(?:^|;)\s*address=([^;\s]+)/.exec(serverState)?.[1];
  const port = /(?:^|;)\s*port=(\d{1,5})/.exec(serverState)?.[1];
  if (address === undefined || port === undefined) return check;
  const database = parseDatabaseAddress(address.includes(":") ? `[${address}]:${port}` : `${address}:${port}`);
  return database === undefined ? check : { ...check, database };
}
