import type { ProbedClusters } from "../../core/command/client/probed-clusters.ts";
import type { Observation } from "../../core/cluster/observation.ts";
import { formatByteSize } from "../../core/cluster/values/byte-size.ts";
import { isObject, type JsonObject } from "../../core/cluster/values/json.ts";
import { parsePythonJson } from "../../core/cluster/values/python-json.ts";
import type { Check } from "../../core/health/check.ts";
import { judgeMember, judgePool } from "../../core/health/rules/pool.ts";
import { viewAt } from "../../core/health/evidence/leadership/cluster-view.ts";
import type { Verdict } from "../../core/health/verdict.ts";
import { CommandError } from "../../core/command/framework/command-error.ts";
import {
  certainlyFit,
  diagnoseUnknown,
  probedAttachment,
  notKnown,
  probedStatus,
  watchedFor,
} from "../../app/client/attachment.ts";
import {
  parseCheckArgument,
  rejectedCheck,
  requireCompanions,
  requireOfCluster,
  requireRoute,
} from "../../core/command/client/check-argument.ts";
import { resolveName, splitGivenName, type GivenName, type NamedNode } from "../../core/command/client/node-name.ts";
import { nextCommand, seeReasons } from "../../core/command/client/next-command.ts";
import { attachmentTime, watchLocally } from "../../app/client/local-probe.ts";
import { fetchStatusIfServed } from "../../core/command/client/cluster-status.ts";
import { isLocal } from "../../app/client/fetch-status.ts";
import { requireNamedConfig } from "../../app/client/probed-status.ts";
import { replyMessage, RolecallClient, type RolecallReply } from "../../core/command/client/rolecall-client.ts";
import type { CommandContext } from "../../core/command/framework/command-context.ts";

/** The verdict of a check. The fields are those of the command's JSON data. */
interface CheckVerdict {
  /** `null`: not known, because this process has not watched the node for long enough. Nothing seen makes it unfit. */
  readonly fit: boolean | null;
  readonly reason: string | null;
  /** The figure that explains the reason. */
  readonly detail: string | null;
  /** The HTTP status; `null` if this process judged the check itself. */
  readonly status: number | null;
  /** The node that was checked; for a whole cluster the chosen node. */
  readonly node: string | null;
  readonly lag_bytes: number | null;
  readonly degraded: boolean;
  /**
   * Whether it is known that the node is attached: `known`, or `not known`. `null` or absent: the check does not depend
   * on it, or a running rolecall judged it.
   */
  readonly attachment?: "known" | "not known" | null;
}

interface CheckedTarget {
  readonly target: NamedNode;
  readonly verdict: CheckVerdict;
}

/**
 * `rolecall check CHECK`: runs a health check as a load balancer would. Unfit is a finding (RC030, exit code 1). If
 * this process probes the nodes itself, it watches a replica until it is known whether it is attached; if that stays
 * unknown, the command could not complete (RC032, exit code 2).
 */
export async function check(context: CommandContext): Promise<void> {
  const { args } = context;
  const [text = ""] = args.positionals;
  const path = text.startsWith("/") ? text : `/${text}`;
  const given = { cluster: args.text("cluster"), node: args.text("node") };
  const checked = await (isLocal(context) ? checkLocally(context, path, given) : checkRemotely(context, path, given));
  report(context, path, checked);
}

function report(context: CommandContext, path: string, { target, verdict }: CheckedTarget): void {
  const { result, print, style } = context;
  const subject = target.node === null ? target.cluster : `${target.cluster}/${target.node}`;
  result.cover("verdict", "complete", { detail: `${path} of ${subject}` });
  result.data = { check: path, cluster: target.cluster, ...verdict };
  const outcome =
    verdict.fit === null
      ? style.yellow(`not known (${verdict.detail ?? "seen once"})`)
      : verdict.fit
        ? style.green(fitText(verdict))
        : style.red(`unfit: ${verdict.reason}`);
  const chosen = target.node === null && verdict.node !== null ? ` (${verdict.node})` : "";
  const lag = verdict.lag_bytes === null ? "" : `, lag ${formatByteSize(verdict.lag_bytes)}`;
  print(`${outcome}  ${subject}${chosen} for ${path}${lag}\n`);
  if (verdict.fit === null) diagnoseUnknown(result, `${subject}${chosen} for ${path}`, verdict.detail ?? "seen once");
  if (verdict.fit === false) {
    const detail = verdict.detail === null ? "" : ` ${verdict.detail}`;
    const explain = nextCommand(context, { name: "explain", positionals: [path], options: optionsOf(target) });
    const see = seeReasons([verdict.reason]);
    result.diagnose("RC030", {
      message: `${subject} is unfit for ${path}: ${verdict.reason}${detail}`,
      action: `Run ${explain}${see === "" ? "" : `\n  ${see}`}`,
    });
  }
}

function fitText({ degraded, reason }: CheckVerdict): string {
  if (reason !== null) return `fit (${reason})`;
  return degraded ? "fit (degraded)" : "fit";
}

/** The options that name the checked node or cluster. */
function optionsOf({ cluster, node }: NamedNode): Readonly<Record<string, string | null>> {
  return node === null ? { cluster } : { node: cluster === "?" ? node : `${cluster}/${node}` };
}

async function checkRemotely(context: CommandContext, path: string, given: GivenName): Promise<CheckedTarget> {
  requireRoute(path);
  const server = new RolecallClient(context, "node");
  const status = await fetchStatusIfServed(server);
  // A listener without operator pages resolves the names itself.
  const named = status === null ? splitGivenName(given) : resolveName(status, given);
  const base = named.cluster === null ? "" : `/clusters/${encodeURIComponent(named.cluster)}`;
  const node = named.node === null ? "" : `/nodes/${encodeURIComponent(named.node)}`;
  const reply = await server.get(`${base}${node}${path}`);
  if (reply.status === 400) throw rejectedCheck(path, replyMessage(reply));
  const body = parsePythonJson(reply.text);
  const document = isObject(body) && isObject(body["rolecall"]) ? body["rolecall"] : null;
  if (document === null)
    throw new CommandError(
      "RC007",
      `Cannot read ${server.url}${path}: it must be a verdict, ` +
        `got ${reply.status} ${reply.phrase}: ${replyMessage(reply)}`,
    );
  const cluster = named.cluster ?? (typeof document["cluster"] === "string" ? document["cluster"] : "?");
  return { target: { ...named, cluster }, verdict: readVerdict(reply, document) };
}

/** Reads the verdict from a reply. @param document the object `rolecall` of its body */
function readVerdict({ status, phrase }: RolecallReply, document: JsonObject): CheckVerdict {
  const { fit, reason, node, lag_bytes: lag, degraded } = document;
  const hasReason = typeof reason === "string";
  return {
    fit: fit === true,
    reason: hasReason ? reason : fit === true ? null : phrase,
    detail: hasReason && phrase.startsWith(`${reason} `) ? phrase.slice(reason.length + 1) : null,
    status,
    node: typeof node === "string" ? node : null,
    lag_bytes: typeof lag === "number" ? lag : null,
    degraded: degraded === true,
  };
}

async function checkLocally(context: CommandContext, path: string, given: GivenName): Promise<CheckedTarget> {
  const config = await requireNamedConfig(context);
  const parsed = parseCheckArgument(path, config.ignoreParams);
  const judgeNow = (probed: ProbedClusters): CheckedTarget => {
    const target = resolveName(probedStatus(probed), given);
    if (target.node === null) requireOfCluster(parsed);
    return { target, verdict: judgeLocally(probed, target, parsed) };
  };
  const probed = await watchLocally(config, context, {
    defaultMs: attachmentTime(config),
    isDone: (soFar) => judgeNow(soFar).verdict.attachment !== notKnown,
    onInterrupt: (soFar) => report(context, path, judgeNow(soFar)),
  });
  return judgeNow(probed);
}

function judgeLocally(probed: ProbedClusters, { cluster, node }: NamedNode, parsed: Check): CheckVerdict {
  const state = probed.cluster(cluster);
  const policy = probed.policy(cluster);
  if (state === undefined || policy === undefined) throw new CommandError("RC001", `There is no cluster ${cluster}`);
  requireCompanions(parsed, policy);
  const view = viewAt(state, policy, probed.now());
  const observation = state.nodes.find((candidate) => candidate.node.name === node);
  const { verdict, chosen } =
    observation === undefined
      ? judgePool(view, parsed)
      : { verdict: judgeMember(view, observation, parsed), chosen: observation };
  if (!verdict.fit || chosen === null) return { ...undecided(probed, cluster, chosen), ...fitnessOf(verdict) };
  // `null` if it is not known whether the node is attached.
  const fitVerdict = (fitNode: Observation, known: Verdict & { readonly fit: true }): CheckVerdict | null => {
    const knowledge = probedAttachment(probed, cluster, { observation: fitNode, check: parsed });
    if (knowledge === notKnown) return null;
    const attachment = knowledge === "known" ? knowledge : null;
    const { isDegraded: degraded, passedOver } = known;
    const stated = { reason: passedOver?.reason ?? null, detail: passedOver?.figure ?? null };
    return { ...undecided(probed, cluster, fitNode), fit: true, ...stated, degraded, attachment };
  };
  const chosenVerdict = fitVerdict(chosen, verdict);
  if (chosenVerdict !== null) return chosenVerdict;
  // The chosen node is not known to be attached. For a whole cluster it is enough if another fit node is.
  const [other] = observation === undefined ? certainlyFit(probed, cluster, parsed) : [];
  const judged = other === undefined ? null : judgeMember(view, other, parsed);
  const otherVerdict = other !== undefined && judged?.fit === true ? fitVerdict(other, judged) : null;
  return otherVerdict ?? { ...undecided(probed, cluster, chosen), detail: watchedFor(probed), attachment: notKnown };
}

/** A verdict that states the node and its lag. The caller overrides the other fields. */
function undecided(probed: ProbedClusters, cluster: string, chosen: Observation | null): CheckVerdict {
  const name = chosen?.node.name ?? null;
  const { nodes = [] } = probed.overview().clusters.find((candidate) => candidate.cluster === cluster) ?? {};
  const lag = nodes.find((candidate) => candidate.node === name)?.lag_bytes ?? null;
  return { fit: null, reason: null, detail: null, status: null, node: name, lag_bytes: lag, degraded: false };
}

/** The fields that a verdict of the judgement decides. */
function fitnessOf(verdict: Verdict): Partial<CheckVerdict> {
  return verdict.fit ? { fit: true } : { fit: false, reason: verdict.reason, detail: verdict.figure };
}
