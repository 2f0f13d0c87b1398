import { isObject, type JsonObject } from "../../../core/cluster/values/json.ts";
import { fetchStatusFrom, selectCluster } from "../../../core/command/client/cluster-status.ts";
import { RolecallClient } from "../../../core/command/client/rolecall-client.ts";
import type { CommandContext } from "../../../core/command/framework/command-context.ts";
import { safe, type Style } from "../../../core/command/output/style.ts";
import { type Cell, table } from "../../../core/command/output/table.ts";
import type { RuleId } from "../../../core/command/result/rule-ids.ts";
import { countText } from "../../../core/health/wording.ts";
import { ownCodes } from "../core/canary.ts";
import { tableSql } from "../core/canary-table.ts";

/** `rolecall canaries`: what the last tries came to; with `--sql` what creates their table. */
export async function canaries(context: CommandContext): Promise<void> {
  const { args, result, print } = context;
  const role = args.text("sql");
  if (role === null) return show(context);
  const sql = tableSql(role);
  result.cover("canaries", "complete", { detail: "the table alone: no canary was looked at" });
  result.data = { sql };
  print(sql);
}

/** One canary, and its cluster. */
interface Row {
  readonly cluster: string;
  readonly canary: JsonObject;
}

async function show(context: CommandContext): Promise<void> {
  const { result, print, style } = context;
  const { clusters } = selectCluster(context, await fetchStatusFrom(new RolecallClient(context, "admin")));
  const rows = clusters.flatMap(({ cluster, canaries: known = [] }) =>
    known.map((canary): Row => ({ cluster, canary })),
  );
  result.data = { canaries: rows.map(({ cluster, canary }) => ({ cluster, ...canary })) };
  cover(context, rows);
  for (const { cluster, canary } of rows) {
    if (canary["state"] !== "failed") continue;
    const action = textOf(canary["action"]);
    result.diagnose(ruleOf(canary), {
      message: safe(`${cluster}: ${textOf(canary["text"])}`),
      ...(action === "" ? {} : { action: safe(action) }),
    });
  }
  if (rows.length === 0) return print("no canaries are configured (docs/canaries.md)\n");
  print(
    table(
      ["CLUSTER", "POOL", "TARGET", "KIND", "STATE", "NODE", "LAST TRY"],
      rows.map((row) => cellsOf(row, style)),
    ),
  );
}

/** A canary that was not tried yet says nothing. */
function cover({ result }: CommandContext, rows: readonly Row[]): void {
  const pending = rows.filter(({ canary }) => canary["state"] === "pending");
  const names = pending.map(({ canary }) => `${textOf(canary["pool"])} at ${textOf(canary["target"])}`);
  if (pending.length > 0) result.cover("canaries", "incomplete", { detail: `not tried yet: ${names.join(", ")}` });
  else result.cover("canaries", "complete", { detail: countText(rows.length, "connection") });
}

function ruleOf({ kind, error }: JsonObject): RuleId {
  if (isObject(error) && error["code"] === ownCodes.otherDatabase) return "RC232";
  return kind === "read" ? "RC231" : "RC230";
}

function cellsOf({ cluster, canary }: Row, style: Style): readonly Cell[] {
  const state = textOf(canary["state"]);
  const paint = state === "failed" ? style.red : state === "pending" ? style.yellow : style.green;
  return [
    { text: safe(cluster) },
    ...["pool", "target", "kind"].map((key) => ({ text: safe(textOf(canary[key])) })),
    { text: safe(state), paint },
    { text: safe(textOf(canary["node"]) || "-") },
    { text: safe(textOf(canary["text"])) },
  ];
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
