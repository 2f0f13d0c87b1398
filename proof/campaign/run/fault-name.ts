import type { Fault, FaultKind } from "./scenario.ts";

/** A fault in one line. */
export function nameOf({
  kind,
  target,
  other,
  request,
  wire,
  field,
  every,
  isNull,
  names,
  load,
  atMs,
  forMs,
}: Fault): string {
  const node = target === "leader" ? "the leader" : `pg${target + 1}`;
  const details: Partial<Record<FaultKind, string>> = {
    wire: ` ${request} ${wire}`,
    lose: ` ${field} of every ${every}${isNull ? " as null" : ""}`,
    view: ` names ${names === "other" ? `pg${other + 1}` : names}`,
    switchover: ` to pg${other + 1}`,
    switchback: ` to pg${other + 1} and back`,
    overload: ` at ${Math.round(load * 100)} %`,
    crash: isNull ? " and does not start" : "",
    recoverInPlace: isNull ? " and promotes itself" : "",
    setBack: `${isNull ? " with a new start" : ""}${every > 1 ? " and is idle" : ""}`,
    starve: ` at ${Math.round(20 * 4 ** (3 * load))} ms an event`,
    cascade: ` from pg${other + 1}`,
  };
  return `${(atMs / 1_000).toFixed(2)} s for ${(forMs / 1_000).toFixed(2)} s: ${kind} ${node}${details[kind] ?? ""}`;
}
