import { clusterNamed, nodeNamed } from "../../cluster/lookup.ts";
import { formatByteSize } from "../../cluster/values/byte-size.ts";
import { isObject, parseJson } from "../../cluster/values/json.ts";
import { parseCheck, type Check } from "../../health/check.ts";
import { judgeMember, judgePool } from "../../health/judge/pool.ts";
import { routeOf, routePaths } from "../../health/route.ts";
import { viewAt } from "../../health/evidence/cluster-view.ts";
import { CommandError } from "../framework/command.ts";
import { resolveName, splitName, type NamedNode } from "../client/node-name.ts";
import { probeOnce } from "../client/probe-once.ts";
import { isLocal, requireConfig, seeIfShown } from "../client/cluster-status.ts";
import { messageOf, Server } from "../client/server.ts";
import type { CommandContext } from "../framework/command-context.ts";

/** A verdict as people and scripts are told it. */
interface Told {
  readonly fit: boolean;
  readonly reason: string | null;
  /** The figure behind a refusal. */
  readonly detail: string | null;
  readonly status: number | null;
  /** The node that was asked, or for a whole cluster the one chosen. */
  readonly node: string | null;
  readonly lag_bytes: number | null;
  readonly degraded: boolean;
}

/** `rolecall check CHECK`: what a balancer would hear. A no is a finding, exit code 1. */
export async function check(context: CommandContext): Promise<void> {
  const { args, result, print, style } = context;
  const [text = ""] = args.positionals;
  const asked = text.startsWith("/") ? text : `/${text}`;
  const said = { cluster: args.text("cluster"), node: args.text("node") };
  const { named, told } = isLocal(context)
    ? await judgeHere(context, asked, said)
    : await askServer(context, asked, said);
  const subject = named.node === null ? named.cluster : `${named.cluster}/${named.node}`;
  result.cover("verdict", "complete", { detail: `${asked} of ${subject}` });
  result.data = { check: asked, cluster: named.cluster, ...told };
  const word = told.fit ? style.green(told.degraded ? "fit (degraded)" : "fit") : style.red(`unfit: ${told.reason}`);
  const chosen = named.node === null && told.node !== null ? ` (${told.node})` : "";
  const lag = told.lag_bytes === null ? "" : `, lag ${formatByteSize(told.lag_bytes)}`;
  print(`${word}  ${subject}${chosen} for ${asked}${lag}\n`);
  if (!told.fit)
    result.diagnose("RC030", {
      message: `${subject} is refused for ${asked}: ${told.reason}${told.detail === null ? "" : ` ${told.detail}`}`,
    });
}

type Said = Parameters<typeof resolveName>[1];

async function askServer(
  context: CommandContext,
  asked: string,
  said: Said,
): Promise<{ named: NamedNode; told: Told }> {
  const server = new Server(context, "node");
  const status = await seeIfShown(server);
  const target = status === null ? asSaid(said) : resolveName(status, said);
  const base = target.cluster === null ? "" : `/clusters/${encodeURIComponent(target.cluster)}`;
  const reply = await server.get(
    `${target.node === null ? base : `${base}/nodes/${encodeURIComponent(target.node)}`}${asked}`,
  );
  const body = parseJson(reply.text);
  const ours = isObject(body) && isObject(body["rolecall"]) ? body["rolecall"] : null;
  if (reply.status === 400) throw new CommandError("RC001", messageOf(reply));
  if (ours === null)
    throw new CommandError(
      "RC007",
      `${server.url} answered ${reply.status} ${reply.phrase} where a verdict was expected: ${messageOf(reply)}`,
    );
  const { fit, reason, node, lag_bytes: lag, degraded } = ours;
  const told: Told = {
    fit: fit === true,
    reason: typeof reason === "string" ? reason : fit === true ? null : reply.phrase,
    detail:
      typeof reason === "string" && reply.phrase.startsWith(`${reason} `)
        ? reply.phrase.slice(reason.length + 1)
        : null,
    status: reply.status,
    node: typeof node === "string" ? node : null,
    lag_bytes: typeof lag === "number" ? lag : null,
    degraded: degraded === true,
  };
  const cluster = target.cluster ?? (typeof ours["cluster"] === "string" ? ours["cluster"] : "?");
  return { named: { ...target, cluster }, told };
}

/** What was said, for a listener that does not show what there is: it resolves the names itself. */
function asSaid({ cluster, node }: Said): Omit<NamedNode, "cluster"> & { readonly cluster: string | null } {
  const split = node === null ? { cluster: null, node: null } : splitName(node);
  if (cluster !== null && split.cluster !== null && cluster !== split.cluster)
    throw new CommandError("RC001", `--cluster says ${cluster}, the node's name says ${split.cluster}`);
  return { cluster: cluster ?? split.cluster, node: split.node };
}

async function judgeHere(
  context: CommandContext,
  asked: string,
  said: Said,
): Promise<{ named: NamedNode; told: Told }> {
  const config = requireConfig(context);
  const parsed = readCheck(asked, config.ignoreParams);
  const { snapshot, policy: healthPolicy, now, overview } = await probeOnce(config, context);
  const seen = overview();
  const named = resolveName({ by: "probed here", clusters: seen.clusters }, said);
  const state = clusterNamed(snapshot, named.cluster);
  const policy = healthPolicy(named.cluster);
  if (state === undefined || policy === undefined)
    throw new CommandError("RC001", `there is no cluster ${named.cluster}`);
  const view = viewAt(state, policy, now());
  const observation = nodeNamed(state, named.node) ?? null;
  const pooled =
    observation === null
      ? judgePool(view, parsed)
      : { verdict: judgeMember(view, observation, parsed), chosen: observation };
  const { verdict } = pooled;
  const node = pooled.chosen?.node.name ?? null;
  const lag =
    seen.clusters.find(({ cluster }) => cluster === named.cluster)?.nodes.find((one) => one.node === node)?.lag_bytes ??
    null;
  const told: Told = {
    fit: verdict.fit,
    reason: verdict.fit ? null : verdict.reason,
    detail: verdict.fit ? null : verdict.figure,
    status: null,
    node,
    lag_bytes: lag,
    degraded: verdict.fit && verdict.isDegraded,
  };
  return { named, told };
}

/** Reads a check as a listener does. @throws Stop (RC001) that says what is not understood */
export function readCheck(asked: string, ignoreParams: readonly string[]): Check {
  const cut = asked.indexOf("?");
  const path = (cut < 0 ? asked : asked.slice(0, cut)).replace(/^\//, "").replace(/\/$/, "");
  const route = routeOf(path);
  if (route === undefined)
    throw new CommandError(
      "RC001",
      `the check must be one of ${routePaths().join(", ")}: it is ${JSON.stringify(`/${path}`)}`,
    );
  const rules = { ignoreParams, ignoresUnknown: false, defaults: "", lagTimeMsLeast: 0 };
  const parsed = parseCheck(route, cut < 0 ? "" : asked.slice(cut + 1), rules);
  if (!parsed.ok)
    throw new CommandError(
      "RC001",
      `Cannot read ${parsed.problem.subject} as it must be ${parsed.problem.allowed}: it is ${JSON.stringify(parsed.problem.value)}`,
    );
  return parsed.check;
}
