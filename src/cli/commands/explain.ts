import type { ProbedClusters } from "../../app/probe-once.ts";
import type { Check } from "../../health/check.ts";
import { isObject, listOf, type JsonObject } from "../../cluster/values/json.ts";
import { explain as explainVerdict } from "../../health/explain/explain.ts";
import { viewAt } from "../../health/evidence/cluster-view.ts";
import { CommandError } from "../framework/command-error.ts";
import { diagnoseUnknown, knowledgeOf, notKnown, probedStatus, watchedFor } from "../client/attachment.ts";
import { parseCheckOption } from "../client/check-option.ts";
import { resolveName, type GivenName } from "../client/node-name.ts";
import { attachmentTime, watchLocally } from "../client/local-probe.ts";
import { isLocal, requireConfig, fetchStatusFrom } from "../client/cluster-status.ts";
import { RolecallClient } from "../client/rolecall-client.ts";
import type { CommandContext } from "../framework/command-context.ts";
import { renderExplanation, type PrintedExplanation, type PrintedRule } from "../output/explanation.ts";

/** `rolecall explain CHECK --node NODE`: explains the verdict rule by rule. Unfit is a finding (RC030, exit code 1). */
export async function explainCheck(context: CommandContext): Promise<void> {
  const { args } = context;
  const [text = ""] = args.positionals;
  const check = text.startsWith("/") ? text : `/${text}`;
  const node = args.text("node");
  if (node === null) throw new CommandError("RC001", "--node must be the node to explain, got nothing");
  const given = { cluster: args.text("cluster"), node };
  const explanation = await (isLocal(context)
    ? explainLocally(context, check, given)
    : fetchExplanation(context, check, given));
  report(context, check, explanation);
}

function report({ result, print, style }: CommandContext, check: string, explanation: PrintedExplanation): void {
  result.cover("rules", "complete", { detail: `${explanation.rules.length} rules` });
  result.data = explanation;
  print(renderExplanation(explanation, style));
  if (explanation.fit === null)
    diagnoseUnknown(
      result,
      `${explanation.cluster}/${explanation.node} for ${check}`,
      explanation.detail ?? "seen once",
    );
  if (explanation.fit === false)
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
  const explainNow = (probed: ProbedClusters): PrintedExplanation => explainProbed(probed, { check, parsed, given });
  const probed = await watchLocally(config, context, {
    defaultMs: attachmentTime(config),
    isDone: (sofar) => explainNow(sofar).attachment !== notKnown,
    onInterrupt: (sofar) => report(context, check, explainNow(sofar)),
  });
  return explainNow(probed);
}

function explainProbed(
  probed: ProbedClusters,
  { check, parsed, given }: { readonly check: string; readonly parsed: Check; readonly given: GivenName },
): PrintedExplanation {
  const target = resolveName(probedStatus(probed), given);
  const state = probed.cluster(target.cluster);
  const policy = probed.policy(target.cluster);
  const observation = state?.nodes.find(({ node }) => node.name === target.node);
  if (state === undefined || policy === undefined || observation === undefined)
    throw new CommandError("RC001", `There is no node ${target.node}`);
  const { verdict, rules, decisive } = explainVerdict(viewAt(state, policy, probed.now()), observation, parsed);
  const knowledge = verdict.fit ? knowledgeOf(probed, target.cluster, { observation, check: parsed }) : null;
  const isUnknown = knowledge === notKnown;
  const seen = watchedFor(probed);
  return {
    cluster: target.cluster,
    node: observation.node.name,
    check,
    fit: isUnknown ? null : verdict.fit,
    reason: verdict.fit ? null : verdict.reason,
    ...(isUnknown ? { detail: seen } : {}),
    attachment: knowledge === "not needed" ? null : knowledge,
    decisive: isUnknown ? streamRule : decisive === null ? null : (rules[decisive]?.rule ?? null),
    rules: rules.map(({ ageMs, ...rule }) => ({
      ...rule,
      ...(isUnknown && rule.rule === streamRule ? { outcome: notKnown, value: unknownValue(rule.value, seen) } : {}),
      age_ms: ageMs,
    })),
  };
}

/** The name of the rule on a replica's stream (rule 5). */
const streamRule = "stream";

/** What the rule observed so far. A pass so far is no observation: the node has not shown that it advances. */
function unknownValue(value: string, seen: string): string {
  return value.startsWith("advances") || value.startsWith("listed by its sender, and advances")
    ? `not known: ${seen}`
    : `not known: ${seen}; ${value}`;
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
