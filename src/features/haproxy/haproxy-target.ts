import {
  type AuditTarget,
  doctorCommand,
  lookLimitMs,
  type RouteAdvice,
  type RouteDifference,
} from "../../core/balancing/audited/audit-target.ts";
import { isOfPrimary } from "../../core/balancing/pool-verdicts.ts";
import type { BalancerConfig, RuntimeAddress } from "../../core/config/model/config.ts";
import { formatHostPort, formatRuntimeAddress } from "../../core/config/values/address.ts";
import { haproxySource } from "./haproxy-source.ts";

/** What the audit looks at of an HAProxy. */
export function haproxyTarget({ name, haproxy }: BalancerConfig): AuditTarget {
  const { socket, backends } = haproxy;
  return {
    name,
    program: "haproxy",
    address: formatRuntimeAddress(socket),
    pools: backends.map(({ name: backend, cluster, check, servers }) => ({
      backend,
      cluster,
      check,
      isOfPrimary: isOfPrimary({ check }),
      servers,
      lists: "all",
      hasOnlyMembers: true,
      keepsSessions: true,
    })),
    source: haproxySource(haproxy, lookLimitMs),
    needsVerdicts: true,
    advise: haproxyAdvice(socket, (backend) =>
      backends.some((one) => one.name === backend && one.followMembers !== null),
    ),
    key: JSON.stringify(haproxy),
  };
}

/** Words for the differences of one HAProxy. @param words those of servers that rolecall adds, by backend */
export function haproxyAdvice(
  socket: RuntimeAddress,
  followsMembers: (backend: string) => boolean,
): (difference: RouteDifference) => RouteAdvice {
  const send = (commands: string): string => `echo ${JSON.stringify(commands)} | socat stdio ${socatAddress(socket)}`;
  return ({ kind, pool, server, node, isStaying, belongsAt, isChecked, closed }) => {
    const backend = pool?.backend ?? "";
    const at = `${backend}/${server ?? ""}`;
    if (kind === "unreachable")
      return { mechanism: `the Runtime API at ${formatRuntimeAddress(socket)}`, command: doctorCommand };
    if (kind === "missing" && server !== null && belongsAt !== null)
      return {
        mechanism: "the operator or program that edits the configuration of HAProxy when a node moves",
        command: send(`set server ${at} addr ${belongsAt.host} port ${belongsAt.port}`),
      };
    if (kind === "missing" && server !== null)
      return {
        mechanism: "the operator or program that edits the configuration of HAProxy when a node leaves",
        command: send(`set server ${at} state maint; shutdown sessions server ${at}`),
      };
    if (kind === "missing")
      return {
        mechanism: followsMembers(backend)
          ? "follow_members of rolecall, which adds a server for each member"
          : "the operator or program that edits the configuration of HAProxy when a node joins",
        command: node === null ? doctorCommand : "rolecall render haproxy --config FILE > haproxy.cfg",
      };
    // What nothing checks is moved by nothing but commands, and a health that one sets there is never undone.
    if (kind === "starved" && closed !== null && closedByHand.test(closed))
      return {
        mechanism: "the operator or program that has closed the server",
        command: send(`set server ${at} ${closed === "weight 0" ? "weight 100%" : "state ready"}`),
      };
    if (!isChecked && kind === "misrouted")
      return {
        mechanism:
          "nothing: HAProxy does not check the server (add check to its line), and so rolecall does not push it; a check",
        command: isStaying
          ? send(`shutdown sessions server ${at}`)
          : "rolecall render haproxy --config FILE > haproxy.cfg",
      };
    if (!isChecked && kind === "starved")
      return {
        mechanism: "nothing: HAProxy does not check the server (add check to its line); a check",
        command: send(`set server ${at} health up`),
      };
    if (kind === "starved")
      return { mechanism: "HAProxy's check, and rolecall's push", command: send(`set server ${at} health up`) };
    return isStaying
      ? {
          mechanism: "HAProxy's check, with on-marked-down shutdown-sessions, and rolecall's push",
          command: send(`shutdown sessions server ${at}`),
        }
      : {
          mechanism: "HAProxy's check, and rolecall's push",
          command: send(`set server ${at} health ${pool?.isOfPrimary === true ? "down" : "stopping"}`),
        };
  };
}

/** What an operator says of a server, and not its checks. */
const closedByHand = /^(MAINT|DRAIN|weight 0)$/;

function socatAddress(socket: RuntimeAddress): string {
  return "path" in socket ? socket.path : `tcp:${formatHostPort(socket)}`;
}
