import { isObject, listOf, type JsonObject } from "../../cluster/values/json.ts";
import { explain as explainVerdict } from "../../health/explain/explain.ts";
import { viewAt } from "../../health/evidence/cluster-view.ts";
import { CommandError } from "../framework/command-error.ts";
import { parseCheckOption } from "../client/check-option.ts";
import { resolveName, type GivenName } from "../client/node-name.ts";
import { probeLocally } from "../client/local-probe.ts";
import { isLocal, requireConfig, fetchStatusFrom } from "../client/cluster-status.ts";
import { RolecallClient } from "../client/rolecall-client.ts";
import type { CommandContext } from "../framework/command-context.ts";
import { renderExplanation, type PrintedExplanation, type PrintedRule } from "../output/explanation.ts";

/** `rolecall explain CHECK --node NODE`: explains the verdict rule by rule. Unfit is a finding (RC030, exit code 1). */
export async function explainCheck(context: CommandContext): Promise<void> {
  const { args, result, print, style } = context;
  const [text = ""] = args.positionals;
  const check = text.startsWith("/") ? text : `/${text}`;
  const node = args.text("node");
  if (node === null) throw new CommandError("RC001", "--node must be the node to explain, got nothing");
  const given = { cluster: args.text("cluster"), node };
  const explanation = await (isLocal(context)
    ? explainLocally(context, check, given)
    : fetchExplanation(context, check, given));
  result.cover("rules", "complete", { detail: `${explanation.rules.length} rules` });
  result.data = explanation;
  print(renderExplanation(explanation, style));
  if (!explanation.fit)
    result.diagnose("RC030", {
      message: `${explanation.cluster}/${explanation.node} is unfit for ${check}: ${explanation.reason}`,
      action: "The rule marked NO decides.",
    });
}

async function fetchExplanation(context: CommandContext, check: string, given: GivenName): Promise<PrintedExplanation> {
  const server = new RolecallClient(context, "admin");
  const { cluster, node } = resolveName(await fetchStatusFrom(server), given);
  const query = new URLSearchParams({ node: `${cluster}/${node}`, check });
  const document = await server.getObject(`/explain?${query.toString()}`);
  return {
    cluster,
    node: node ?? "",
    check,
    fit: document["fit"] === true,
    reason: typeof document["reason"] === "string" ? document["reason"] : null,
    decisive: typeof document["decisive"] === "string" ? document["decisive"] : null,
    rules: listOf(document["rules"]).filter(isObject).map(readRule),
  };
}

async function explainLocally(context: CommandContext, check: string, given: GivenName): Promise<PrintedExplanation> {
  const config = requireConfig(context);
  const parsed = parseCheckOption(check, config.ignoreParams);
  const probed = await probeLocally(config, context);
  const target = resolveName({ by: "probed here", clusters: probed.overview().clusters }, given);
  const state = probed.cluster(target.cluster);
  const policy = probed.policy(target.cluster);
  const observation = state?.nodes.find(({ node }) => node.name === target.node);
  if (state === undefined || policy === undefined || observation === undefined)
    throw new CommandError("RC001", `There is no node ${target.node}`);
  const { verdict, rules, decisive } = explainVerdict(viewAt(state, policy, probed.now()), observation, parsed);
  return {
    cluster: target.cluster,
    node: observation.node.name,
    check,
    fit: verdict.fit,
    reason: verdict.fit ? null : verdict.reason,
    decisive: decisive === null ? null : (rules[decisive]?.rule ?? null),
    rules: rules.map(({ ageMs, ...rule }) => ({ ...rule, age_ms: ageMs })),
  };
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
