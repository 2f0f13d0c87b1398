import { countText } from "../../health/wording.ts";
import type { StatusCluster, StatusNode } from "../client/cluster-status.ts";

/** More names than this are counted only. */
const namesMax = 20;

/** Whether a member does not answer now. */
export function isSilent({ error, age_ms, reason }: StatusNode): boolean {
  return error !== null || age_ms === null || reason === "down" || reason === "stale";
}

/** `demo: 3 members; 1 does not answer now: pg3 (refused).` Without ages: the same state gives the same file. */
export function memberSummary(cluster: string, nodes: StatusCluster["nodes"]): string {
  if (nodes.length === 0) return `${cluster}: no member is known.`;
  const silent = nodes.filter(isSilent);
  const head = `${cluster}: ${countText(nodes.length, "member")}`;
  if (silent.length === 0) return `${head}; ${nodes.length === 1 ? "it answers" : "all answer"}.`;
  const names = silent.slice(0, namesMax).map((node) => `${plain(node.node)} (${causeOf(node)})`);
  const more = silent.length > namesMax ? ` and ${silent.length - namesMax} more` : "";
  return `${head}; ${silent.length} ${silent.length === 1 ? "does" : "do"} not answer now: ${names.join(", ")}${more}.`;
}

function causeOf({ error, age_ms, reason }: StatusNode): string {
  return error ?? (age_ms === null ? "never answered" : (reason ?? "no answer"));
}

function plain(name: string): string {
  return /^[\w.-]+$/.test(name) ? name : JSON.stringify(name);
}
