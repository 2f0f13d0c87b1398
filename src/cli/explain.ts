import { isObject, listOf, type JsonObject } from "../cluster/json.ts";
import { explain as explainVerdict } from "../health/explain.ts";
import { look } from "../health/sight.ts";
import { readCheck } from "./check.ts";
import { Stop } from "./command.ts";
import { resolveName, type Named } from "./node-name.ts";
import { probeOnce } from "./probe-once.ts";
import { probesItself, requireConfig, seeFrom } from "./seen.ts";
import { Server } from "./server.ts";
import type { Session } from "./session.ts";
import { renderExplanation, type ToldExplanation, type ToldRule } from "./text/explanation.ts";

/** `rolecall explain CHECK --node NODE`: the rules one by one. A no is a finding, exit code 1. */
export async function explainCheck(session: Session): Promise<void> {
  const { args, result, print, style } = session;
  const [text = ""] = args.positionals;
  const check = text.startsWith("/") ? text : `/${text}`;
  const node = args.text("node");
  if (node === null) throw new Stop("RC001", "--node must name the node to explain");
  const said = { cluster: args.text("cluster"), node };
  const told = probesItself(session) ? await explainHere(session, check, said) : await askServer(session, check, said);
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

async function askServer(session: Session, check: string, said: Said): Promise<ToldExplanation> {
  const server = new Server(session, "admin");
  const named = resolveName(await seeFrom(server), said);
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

async function explainHere(session: Session, check: string, said: Said): Promise<ToldExplanation> {
  const config = requireConfig(session);
  const parsed = readCheck(check, config.ignoreParams);
  const { snapshot, settings, now, overview } = await probeOnce(config, session);
  const named = resolveName({ by: "probed here", clusters: overview().clusters }, said);
  const part = snapshot.parts[snapshot.index.get(named.cluster) ?? -1];
  const judged = settings(named.cluster);
  const observation = part?.nodes[part.index.get(named.node ?? "") ?? -1];
  if (part === undefined || judged === undefined || observation === undefined) throw new Stop("RC001", `there is no node ${named.node}`);
  const { verdict, rules, decisive } = explainVerdict(look(part, judged, now()), observation, parsed);
  return {
    ...naming(named, check),
    fit: verdict.fit,
    reason: verdict.fit ? null : verdict.reason,
    decisive: decisive === null ? null : (rules[decisive]?.rule ?? null),
    rules: rules.map(({ ageMs, ...rule }) => ({ ...rule, age_ms: ageMs })),
  };
}

function naming({ cluster, node }: Named, check: string): Pick<ToldExplanation, "cluster" | "node" | "check"> {
  return { cluster, node: node ?? "", check };
}

function readRule(row: JsonObject): ToldRule {
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
