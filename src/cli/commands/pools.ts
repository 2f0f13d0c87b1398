import { isObject, listOf, type JsonObject } from "../../core/cluster/values/json.ts";
import { formatHostPort } from "../../core/config/values/address.ts";
import { RolecallClient } from "../../core/command/client/rolecall-client.ts";
import type { CommandContext } from "../../core/command/framework/command-context.ts";
import { formatKnownDuration, formatLag } from "../../core/command/output/figures.ts";
import { safe, type Style } from "../../core/command/output/style.ts";
import { type Cell, table } from "../../core/command/output/table.ts";

/** `rolecall status pools [POOL]`: the members of each pool of the running rolecall, in the order in which they get clients. */
export async function pools(context: CommandContext): Promise<void> {
  const { args, result, print, style } = context;
  const server = new RolecallClient(context, "admin");
  const [name] = args.positionals;
  const found =
    name === undefined
      ? listOf((await server.getObject("/pools"))["pools"]).filter(isObject)
      : [await server.getObject(`/pools/${encodeURIComponent(name)}`)];
  result.cover("pools", "complete", { detail: server.url });
  result.data = { pools: found };
  if (found.length === 0) return print("no pools are configured (docs/pools.md)\n");
  print(found.map((pool) => renderPool(pool, style)).join("\n"));
}

function renderPool(pool: JsonObject, style: Style): string {
  const members = listOf(pool["members"]).filter(isObject);
  const fit = Number(pool["fit"]);
  const isKnown = pool["known"] !== false && members.length > 0;
  const counts = isKnown ? `${fit} of ${members.length} fit` : "not known: not all members have answered yet";
  const name = style.bold(wordOf(pool["pool"]));
  const head =
    pool["named"] === false ? `${name}  unnamed` : [name, wordOf(pool["cluster"]), wordOf(pool["check"])].join("  ");
  const rows = members.map((member) => rowOf(member, isKnown, style));
  const users = listOf(pool["used_by"]).filter(isObject).map(userText);
  const used = users.length === 0 ? "nothing refers to it" : `used by ${users.join(", ")}`;
  const shown =
    rows.length === 0 ? "no node is known\n" : table(["NODE", "ADDRESS", "ZONE", "LAG", "TIME", "FIT"], rows);
  const body = `${shown}${used}\n`.replaceAll(/^(?=.)/gm, "  ");
  return `${head}  ${!isKnown ? style.yellow(counts) : fit === 0 ? style.red(counts) : counts}\n${body}`;
}

/** @param isPoolKnown whether what is not known now was known before: then the member is shown as it was */
function rowOf(member: JsonObject, isPoolKnown: boolean, style: Style): readonly Cell[] {
  const { host, port, reason, figure, no } = member;
  const address = typeof host === "string" && typeof port === "number" ? formatHostPort({ host, port }) : "-";
  const why = [reason, figure].filter((part) => typeof part === "string").join(" ");
  const isFit = member["fit"] === true;
  const known: Cell = isFit
    ? { text: member["degraded"] === true ? "fit, degraded" : "fit", paint: style.green }
    : { text: no === "hard" ? `${why} (hard no)` : why, paint: no === "hard" ? style.red : style.yellow };
  const last = isPoolKnown ? ` (${why}), still ${isFit ? "fit" : "unfit"} for those who follow the pool` : "";
  const state: Cell = member["known"] === false ? { text: `not known${last}`, paint: style.yellow } : known;
  return [
    { text: wordOf(member["node"]) },
    { text: address },
    { text: wordOf(member["zone"]) },
    { text: formatLag(numberOr(member["lag_bytes"])) },
    { text: formatKnownDuration(numberOr(member["lag_ms"])) },
    state,
  ];
}

function userText({ kind, name, backend, up }: JsonObject): string {
  const subject = `${wordOf(kind)} ${wordOf(name)}${typeof backend === "string" ? `/${safe(backend)}` : ""}`;
  return typeof up === "boolean" ? `${subject} (${up ? "up" : "does not answer"})` : subject;
}

function wordOf(value: unknown): string {
  return typeof value === "string" ? safe(value) : "-";
}

function numberOr(value: unknown): number | null {
  return typeof value === "number" ? value : null;
}
