import type { RouteFinding } from "./route-finding.ts";
import { formatHostPort, formatRuntimeAddress } from "../../../config/values/address.ts";
import type { RuntimeAddress } from "../../../config/model/config.ts";
import { type PoolerAddress, socketOf } from "../../../config/values/pooler-address.ts";
import { quoteDatabase } from "../../../push/pgbouncer/console.ts";
import type { Difference } from "./audit-target.ts";

/** What should move the traffic of a target, and what moves it now. */
export type RouteAdvice = Pick<RouteFinding, "mechanism" | "command">;

/** Words for the differences of one HAProxy. @param words those of servers that rolecall adds, by backend */
export function haproxyAdvice(
  socket: RuntimeAddress,
  followsMembers: (backend: string) => boolean,
): (difference: Difference) => RouteAdvice {
  const send = (commands: string): string => `echo ${JSON.stringify(commands)} | socat stdio ${socatAddress(socket)}`;
  return ({ kind, pool, server, node, isStaying, belongsAt, isChecked, closed }) => {
    const backend = pool?.backend ?? "";
    const at = `${backend}/${server ?? ""}`;
    if (kind === "unreachable")
      return { mechanism: `the Runtime API at ${formatRuntimeAddress(socket)}`, command: doctor };
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
        command: node === null ? doctor : "rolecall render haproxy --config FILE > haproxy.cfg",
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

const doctor = "rolecall doctor --config FILE";
/** What an operator says of a server, and not its checks. */
const closedByHand = /^(MAINT|DRAIN|weight 0)$/;

function socatAddress(socket: RuntimeAddress): string {
  return "path" in socket ? socket.path : `tcp:${formatHostPort(socket)}`;
}

/** The console of a PgBouncer, and the databases whose file rolecall writes. */
export interface AdvisedPooler {
  readonly address: PoolerAddress;
  readonly user: string;
  readonly hasFile: (database: string) => boolean;
}

/** Words for the differences of one PgBouncer. */
export function poolerAdvice({ address, user, hasFile }: AdvisedPooler): (difference: Difference) => RouteAdvice {
  const [host, port] = "host" in address ? [address.host, address.port] : [address.folder, address.port];
  const console = `psql "host=${host} port=${port} user=${user} dbname=pgbouncer"`;
  const where = "host" in address ? formatHostPort(address) : socketOf(address);
  return ({ kind, pool, leadsThere, closed }) => {
    const database = pool?.backend ?? "";
    if (kind === "unreachable") return { mechanism: `the console at ${where}`, command: doctor };
    if (kind === "starved") {
      const command = `${closed === "disabled" ? "ENABLE" : "RESUME"} ${quoteDatabase(database)}`;
      return {
        mechanism: "the operator or program that has paused or disabled the database",
        command: `${console} -c '${command.replaceAll("'", String.raw`'\''`)}'`,
      };
    }
    const reconnect = `${console} -c '${`RECONNECT ${quoteDatabase(database)}`.replaceAll("'", String.raw`'\''`)}'`;
    if (!leadsThere)
      return {
        mechanism: hasFile(database)
          ? "rolecall, which sends RECONNECT once the database leads to another node"
          : "server_lifetime of PgBouncer, or RECONNECT",
        command: reconnect,
      };
    return hasFile(database)
      ? { mechanism: "rolecall, which writes the file of the database and sends RELOAD", command: doctor }
      : {
          mechanism: "the operator or program that edits the host of the database in pgbouncer.ini",
          command: `${console} -c RELOAD && ${reconnect}`,
        };
  };
}

/**
 * Words for the differences of one Envoy, by the address of its admin interface.
 * @param isPushed whether its endpoints come from rolecall; otherwise they are in its file, which a restart reads again
 */
export function envoyAdvice(admin: string, isPushed: boolean): (difference: Difference) => RouteAdvice {
  return ({ kind, node }) => {
    if (kind === "unreachable")
      return { mechanism: `the admin interface at ${admin}`, command: `curl -s ${admin}/ready` };
    if (!isPushed)
      return {
        mechanism:
          kind === "misrouted" ? "Envoy's check of the endpoint" : "the file with Envoy's endpoints, or its check",
        command: kind === "missing" ? "rolecall render envoy --config FILE > envoy.yaml" : `curl -s ${admin}/clusters`,
      };
    const mechanism =
      kind === "misrouted" ? "rolecall's push (xDS) and Envoy's check of open sessions" : "rolecall's push (xDS)";
    // Envoy has no command for one endpoint: a restart ends all of its sessions, and reads all pools again.
    const command =
      kind === "missing" && node !== null ? `curl -s ${admin}/clusters` : `curl -sX POST ${admin}/quitquitquit`;
    return { mechanism, command };
  };
}

/** Words for an Envoy that does not take what it is sent. */
export function xdsAdvice(listener: string): RouteAdvice {
  return { mechanism: `the stream of Envoy to ${listener}`, command: "rolecall doctor --config FILE" };
}
