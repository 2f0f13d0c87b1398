import { countText } from "../../../core/health/wording.ts";
import { routeFindingBlame } from "../core/route-finding.ts";
import { isObject, listOf, type JsonObject } from "../../../core/cluster/values/json.ts";
import { RolecallClient } from "../../../core/command/client/rolecall-client.ts";
import type { CommandContext } from "../../../core/command/framework/command-context.ts";
import { formatDuration } from "../../../core/command/output/figures.ts";
import { safe, type Style } from "../../../core/command/output/style.ts";
import { type Cell, table } from "../../../core/command/output/table.ts";
import type { RuleId } from "../../../core/command/result/rule-ids.ts";

/** The rule of each finding. One of a later version is a misroute until this version knows it. */
const ruleOf: Readonly<Record<string, RuleId>> = {
  misrouted: "RC220",
  starved: "RC221",
  missing: "RC222",
  unreachable: "RC223",
};

/** `rolecall status routes`: where the traffic of balancers and poolers goes, and what differs from the verdicts. */
export async function verify(context: CommandContext): Promise<void> {
  const { result, print, style } = context;
  const server = new RolecallClient(context, "admin");
  const document = await server.getObject("/audit");
  const targets = listOf(document["targets"]).filter(isObject);
  const findings = listOf(document["findings"]).filter(isObject);
  result.data = document;
  if (targets.length === 0) result.cover("routes", "not_applicable", { detail: nothingToVerify });
  else coverTargets(context, targets, findings);
  for (const finding of findings)
    result.diagnose(ruleOf[textOf(finding["finding"])] ?? "RC220", {
      message: messageOf(finding),
      action: `Run: ${safe(textOf(finding["command"]))}`,
    });
  if (targets.length === 0) return print(`${nothingToVerify}\n`);
  const rows = targets.map((one) => rowOf(one, style));
  print(table(["TARGET", "PROGRAM", "ADDRESS", "SERVERS", "LOOKED", "STATE"], rows));
  const suspected = targets.flatMap(suspectedOf);
  for (const one of suspected) print(`${messageOf(one)}, or it passes by itself\n`);
  if (findings.length === 0 && targets.every((one) => stateOf(one, style).text === asItShouldBe))
    print(`${countText(targets.length, "target")}: traffic goes where it should\n`);
}

/** What would have to be configured. That there is nothing to verify is no error. */
const nothingToVerify =
  "nothing to verify: no balancer or pooler is configured (balancers, poolers, audit.envoys), or audit.interval is 0s " +
  "(docs/audit.md)";

/** What was not looked at is not known to be right. */
function coverTargets(
  { result }: CommandContext,
  targets: readonly JsonObject[],
  findings: readonly JsonObject[],
): void {
  const isFound = (name: string): boolean => findings.some(({ target }) => textOf(target) === name);
  const unread = targets.flatMap((one) => {
    const why = isFound(textOf(one["target"])) ? null : notRead(one);
    return why === null ? [] : [`${textOf(one["target"])} (${why})`];
  });
  if (unread.length > 0) result.cover("routes", "incomplete", { detail: `not compared: ${unread.join(", ")}` });
  else result.cover("routes", "complete", { detail: countText(targets.length, "target") });
}

/** Why nothing can be said of the traffic of a target; `null`: something can. */
function notRead({ up, problem, unknown }: JsonObject): string | null {
  if (up !== true) return textOf(problem) || "not yet";
  const clusters = listOf(unknown).map(textOf);
  return clusters.length === 0 ? null : `nothing is known of ${clusters.join(", ")}`;
}

/** What differs of a target, but not for long enough to be a finding. An earlier version does not say. */
function suspectedOf({ suspected }: JsonObject): readonly JsonObject[] {
  return listOf(suspected).filter(isObject);
}

/** The backends of a target for which no node is fit. */
function unledOf({ without_fit_node: unled }: JsonObject): readonly string[] {
  return listOf(unled).map(textOf);
}

function messageOf({ finding, target, backend, server, what, mechanism, for_ms: forMs }: JsonObject): string {
  const at = [backend, server].filter((part) => typeof part === "string").join("/");
  const subject = `${textOf(target)}${at === "" ? "" : ` ${at}`}`;
  const since = typeof forMs === "number" ? ` for ${formatDuration(forMs)}` : "";
  return safe(`${subject} ${textOf(what)}${since}; ${routeFindingBlame(textOf(finding), textOf(mechanism))}`);
}

function rowOf(one: JsonObject, style: Style): readonly Cell[] {
  const { target, program, address, servers, looked_ms_ago: agoMs } = one;
  return [
    { text: safe(textOf(target)) },
    { text: safe(textOf(program)) },
    { text: safe(textOf(address)) },
    { text: String(Number(servers)) },
    { text: typeof agoMs === "number" ? `${formatDuration(agoMs)} ago` : "-" },
    stateOf(one, style),
  ];
}

const asItShouldBe = "as it should be";

function stateOf(one: JsonObject, style: Style): Cell {
  const { up, findings, unknown } = one;
  if (up === false) return { text: "does not answer", paint: style.red };
  if (findings !== 0) return { text: countText(Number(findings), "finding"), paint: style.red };
  if (up !== true) return { text: "not looked at yet", paint: style.yellow };
  if (listOf(unknown).length > 0) return { text: "not compared", paint: style.yellow };
  if (suspectedOf(one).length > 0) return { text: "differs since just now", paint: style.yellow };
  const unled = unledOf(one);
  return unled.length > 0
    ? { text: safe(`no node is fit for ${unled.join(", ")}`), paint: style.yellow }
    : { text: asItShouldBe, paint: style.green };
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
