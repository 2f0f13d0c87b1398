import { clusterNamed, nodeNamed } from "../../cluster/lookup.ts";
import { isObject, listOf, type JsonObject } from "../../cluster/values/json.ts";
import { explain as explainVerdict } from "../../health/explain/explain.ts";
import { viewAt } from "../../health/evidence/cluster-view.ts";
import { readCheck } from "./check.ts";
import { CommandError } from "../framework/command.ts";
import { resolveName, type NamedNode } from "../client/node-name.ts";
import { probeOnce } from "../client/probe-once.ts";
import { isLocal, requireConfig, fetchStatusFrom } from "../client/cluster-status.ts";
import { Server } from "../client/server.ts";
import type { CommandContext } from "../framework/command-context.ts";
import { renderExplanation, type PrintedExplanation, type PrintedRule } from "../output/explanation.ts";

/** `rolecall explain CHECK --node NODE`: the rules one by one. A no is a finding, exit code 1. */
export async function explainCheck(context: CommandContext): Promise<void> {
  const { args, result, print, style } = context;
  const [text = ""] = args.positionals;
  const check = text.startsWith("/") ? text : `/${text}`;
  const node = args.text("node");
  if (node === null) throw new CommandError("RC001", "--node must name the node to explain");
  const said = { cluster: args.text("cluster"), node };
  const told = isLocal(context) ? await explainHere(context, check, said) : await askServer(context, check, said);
  result.cover("rules", "complete", { detail: `${told.rules.length} rules` });
  result.data = told;
  print(renderExplanation(told, style));
  if (!told.fit)
    result.diagnose("RC030", {
      message: `${told.cluster}/${told.node} is refused for ${check}: ${told.reason}`,
      action: "The rule marked NO decides.",
    });
}

type Said = Parameters<typeof resolveName>[1];

async function askServer(context: CommandContext, check: string, said: Said): Promise<PrintedExplanation> {
  const server = new Server(context, "admin");
  const named = resolveName(await fetchStatusFrom(server), said);
  const query = new URLSearchParams({ node: `${named.cluster}/${named.node}`, check });
  const reply = await server.getObject(`/explain?${query.toString()}`);
  return {
    ...naming(named, check),
    fit: reply["fit"] === true,
    reason: typeof reply["reason"] === "string" ? reply["reason"] : null,
    decisive: typeof reply["decisive"] === "string" ? reply["decisive"] : null,
    rules: listOf(reply["rules"]).filter(isObject).map(readRule),
  };
}

async function explainHere(context: CommandContext, check: string, said: Said): Promise<PrintedExplanation> {
  const config = requireConfig(context);
  const parsed = readCheck(check, config.ignoreParams);
  const { snapshot, policy: healthPolicy, now, overview } = await probeOnce(config, context);
  const named = resolveName({ by: "probed here", clusters: overview().clusters }, said);
  const cluster = clusterNamed(snapshot, named.cluster);
  const policy = healthPolicy(named.cluster);
  const observation = cluster && nodeNamed(cluster, named.node);
  if (cluster === undefined || policy === undefined || observation === undefined)
    throw new CommandError("RC001", `there is no node ${named.node}`);
  const { verdict, rules, decisive } = explainVerdict(viewAt(cluster, policy, now()), observation, parsed);
  return {
    ...naming(named, check),
    fit: verdict.fit,
    reason: verdict.fit ? null : verdict.reason,
    decisive: decisive === null ? null : (rules[decisive]?.rule ?? null),
    rules: rules.map(({ ageMs, ...rule }) => ({ ...rule, age_ms: ageMs })),
  };
}

function naming({ cluster, node }: NamedNode, check: string): Pick<PrintedExplanation, "cluster" | "node" | "check"> {
  return { cluster, node: node ?? "", check };
}

function readRule(row: JsonObject): PrintedRule {
  const text = (key: string): string => (typeof row[key] === "string" ? row[key] : "");
  return {
    rule: text("rule"),
    outcome: text("outcome"),
    value: text("value"),
    limit: text("limit") === "" ? null : text("limit"),
    age_ms: typeof row["age_ms"] === "number" ? row["age_ms"] : null,
    source: text("source"),
    reason: text("reason") === "" ? null : text("reason"),
  };
}
