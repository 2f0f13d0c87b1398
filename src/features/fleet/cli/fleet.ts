import { isObject, listOf, parseJson, type JsonObject } from "../../../core/cluster/values/json.ts";
import { diagnoseFleet, differenceText, sayingsText } from "./fleet-findings.ts";
import { refusalAction } from "../../../core/command/client/refusal.ts";
import { replyMessage, RolecallClient } from "../../../core/command/client/rolecall-client.ts";
import type { CommandContext } from "../../../core/command/framework/command-context.ts";
import { CommandError } from "../../../core/command/framework/command-error.ts";
import { formatDuration } from "../../../core/command/output/figures.ts";
import { safe, type Style } from "../../../core/command/output/style.ts";
import { type Cell, table } from "../../../core/command/output/table.ts";
import { drainTimeMs, operatorName } from "../../../core/command/client/drain-options.ts";

/** `rolecall status fleet`: the members of a fleet, and who probes what. */
export async function showFleet(context: CommandContext): Promise<void> {
  const { args, result, print, style } = context;
  const server = new RolecallClient(context, "admin");
  const document = await server.getObject("/fleet");
  const shown = document["fleet"];
  if (!isObject(shown)) {
    result.data = document;
    const detail = "this rolecall is in no fleet: no fleet is configured (fleet; docs/fleet.md)";
    result.cover("fleet", "not_applicable", { detail });
    return print(`${detail}\n`);
  }
  const only = args.text("cluster");
  const clusters = listOf(shown["clusters"])
    .filter(isObject)
    .filter(({ cluster }) => only === null || cluster === only);
  if (only !== null && clusters.length === 0)
    throw new CommandError("RC001", `--cluster must be a cluster that this member serves, got ${JSON.stringify(only)}`);
  result.cover("fleet", "complete", { detail: `${textOf(shown["name"])}, as ${textOf(shown["member"])} sees it` });
  result.data = { fleet: { ...shown, clusters } };
  diagnoseFleet({ ...shown, clusters }, result);
  const members = listOf(shown["members"]).filter(isObject);
  diagnoseStreams(members, result);
  print(`fleet ${safe(textOf(shown["name"]))}, as ${safe(textOf(shown["member"]))} sees it\n\n`);
  print(
    table(
      ["MEMBER", "ZONE", "VERSION", "WEIGHT", "SERVES", "OWNS", "STREAM", "STATE"],
      members.map((one) => memberRow(one, shown, style)),
      ["WEIGHT", "SERVES", "OWNS"],
    ),
  );
  print(
    `\n${table(
      ["CLUSTER", "OWNERS", "HERE"],
      clusters.flatMap((one) => clusterRows(one, style)),
    )}`,
  );
}

/** Reports the members from which this one does not get all that it wants (RC133). */
function diagnoseStreams(members: readonly JsonObject[], result: CommandContext["result"]): void {
  for (const { id, stream } of members) {
    const problem = isObject(stream) ? textOf(stream["problem"]) : "";
    if (problem !== "") result.diagnose("RC133", { message: safe(`${textOf(id)}: ${problem}`) });
  }
}

function memberRow(
  { id, zone, version, weight, serves, owns, stream, draining }: JsonObject,
  { member, phase }: JsonObject,
  style: Style,
): readonly Cell[] {
  const isSelf = id === member;
  return [
    { text: textOf(id) },
    { text: textOf(zone) || "-" },
    { text: textOf(version) },
    { text: String(Number(weight)) },
    { text: String(Number(serves)) },
    { text: String(Number(owns)) },
    streamCell(stream, style),
    isObject(draining)
      ? { text: drainText(draining), paint: style.yellow }
      : { text: isSelf ? `${textOf(phase)}, this member` : "", ...(phase === "joined" ? {} : { paint: style.red }) },
  ];
}

function drainText({ by, until }: JsonObject): string {
  return `drained${textOf(until) === "" ? "" : ` until ${textOf(until)}`}${textOf(by) === "" ? "" : ` by ${textOf(by)}`}`;
}

/** What this instance gets from another member, and how long ago that was. */
function streamCell(stream: unknown, style: Style): Cell {
  if (!isObject(stream)) return { text: "-" };
  const { live, problem, silent_ms: silentMs } = stream;
  const heard = typeof silentMs === "number" ? `${formatDuration(silentMs)} ago` : "not heard yet";
  if (live !== true) return { text: textOf(problem) || heard, paint: style.red };
  return { text: `live, ${heard}`, paint: textOf(problem) === "" ? style.green : style.yellow };
}

/** A row for the members that share a cluster with the asked one, and one for each group that does not. */
function clusterRows(
  { cluster, owners, does, groups, disagreements }: JsonObject,
  style: Style,
): readonly (readonly Cell[])[] {
  const name = textOf(cluster);
  const others = listOf(groups)
    .filter(isObject)
    .filter(({ differs }) => typeof differs === "string");
  return [
    [{ text: name }, { text: ownersText(owners) }, { text: textOf(does) }],
    ...others.map(({ differs, owners: theirs }) => [
      { text: name },
      { text: ownersText(theirs) },
      { text: `not shared: ${differenceText(textOf(differs))}`, paint: style.yellow },
    ]),
    ...listOf(disagreements)
      .filter(isObject)
      .map(({ node, says }) => [
        { text: `${name}/${textOf(node)}` },
        { text: "disagree" },
        { text: sayingsText(says), paint: style.yellow },
      ]),
  ];
}

function ownersText(owners: unknown): string {
  return listOf(owners).map(textOf).join(", ") || "-";
}

/** `rolecall drain --member MEMBER`: keeps a member from owning clusters, or with `--end` no longer. */
export async function drainMember(context: CommandContext): Promise<void> {
  const { args, result, print, io } = context;
  const member = args.text("member") ?? "";
  const isBegin = !args.has("end");
  if (!isBegin && args.text("for") !== null) throw new CommandError("RC001", "--for must be given without --end");
  const by = operatorName(args.text("by"), io.env);
  const body = isBegin ? { for: `${drainTimeMs(args)}ms`, by } : { by };
  const server = new RolecallClient(context, "admin");
  const path = `/fleet/members/${encodeURIComponent(member)}/drain`;
  const reply = await server.call({ method: isBegin ? "POST" : "DELETE", path, body });
  const document = parseJson(reply.text);
  if (reply.status !== 200 || !isObject(document)) {
    result.cover("fleet", "complete", { detail: `${member}: rejected` });
    const action = refusalAction(
      reply,
      "Run rolecall status fleet: it lists the members, and says whether etcd is reached.",
    );
    return result.diagnose("RC070", { message: `${reply.status}: ${replyMessage(reply)}`, action });
  }
  result.cover("fleet", "complete", { detail: member });
  result.data = document;
  const { drain } = document;
  print(
    isObject(drain)
      ? `${safe(member)} is ${safe(drainText(drain))}: other members take its clusters\n`
      : `the drain of ${safe(member)} has ended: it is given clusters again\n`,
  );
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
