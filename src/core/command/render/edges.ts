import { isIP } from "node:net";
import type { DatabaseAddress } from "../../cluster/node.ts";
import { isHost } from "../../config/values/address.ts";
import { parseDatabaseAddress } from "../../health/check.ts";
import { CommandError } from "../framework/command-error.ts";
import type { Arguments } from "../framework/arguments.ts";

/** More instances of rolecall than this only add probes to the nodes. */
export const edgesMax = 8;

const allowed = "HOST:PORT, such as 10.0.0.11:8008, rolecall1:8008 or [2001:db8::1]:8008";

/**
 * Reads `--edge`: the health listeners of the rolecall instances, in the order in which load balancers try them. The
 * option may be repeated, and a value may list several addresses with commas between them.
 * @returns no addresses if the option was not given
 * @throws CommandError (RC001) if an address is not valid, is given twice, or if there are too many
 */
export function parseEdges(args: Arguments): readonly DatabaseAddress[] {
  return addressesOf(args, "edge", parseEdge);
}

/**
 * Reads `--admin`: the listeners of the rolecall instances that serve metrics, in the same form as `--edge`.
 * @throws CommandError (RC001) if an address is not valid, is given twice, or if there are too many
 */
export function parseAdmins(args: Arguments): readonly DatabaseAddress[] {
  return addressesOf(args, "admin", (text) => readAddressOption("admin", text));
}

function addressesOf(
  args: Arguments,
  option: string,
  read: (text: string) => DatabaseAddress,
): readonly DatabaseAddress[] {
  const texts = args.list(option).flatMap((value) => value.split(","));
  const addresses = texts.map((text) => read(text.trim()));
  const names = addresses.map(hostPort);
  const duplicate = names.find((name, index) => names.indexOf(name) < index);
  if (duplicate !== undefined)
    throw new CommandError("RC001", `--${option} must be a different address each time, got ${duplicate} twice`);
  if (addresses.length > edgesMax)
    throw new CommandError(
      "RC001",
      `--${option} must be given at most ${edgesMax} times, got ${addresses.length} addresses`,
    );
  return addresses;
}

/**
 * Reads `HOST:PORT` of an option.
 * @throws CommandError (RC001) if it is not a host and a port, or has characters that are syntax in rendered files
 */
export function readAddressOption(option: string, text: string): DatabaseAddress {
  const address = parseDatabaseAddress(text);
  // The host goes into files of other programs.
  if (address === undefined || !isRenderableHost(address.host))
    throw new CommandError("RC001", `--${option} must be ${allowed}, got ${JSON.stringify(text)}`);
  return { host: address.host.toLowerCase(), port: address.port };
}

function parseEdge(text: string): DatabaseAddress {
  if (/^(unix:|unix@|abns@|\/)/.test(text))
    throw new CommandError(
      "RC001",
      `--edge must be ${allowed}, got the unix socket ${JSON.stringify(text)}: rolecall listens on TCP only`,
    );
  const edge = readAddressOption("edge", text);
  if (edge.host === "0.0.0.0" || edge.host === "::")
    throw new CommandError(
      "RC001",
      `--edge must be an address that load balancers can connect to, got ${JSON.stringify(text)}`,
    );
  return edge;
}

/**
 * Whether a host may be written into the files of other programs: an IP address without a zone, or a host name with
 * valid labels. One host that HAProxy cannot read, such as `..`, makes its whole file invalid.
 */
export function isRenderableHost(host: string): boolean {
  if (/^[\d.]+$/.test(host)) return isIP(host) === 4;
  return isHost(host) && !host.includes("%");
}

/** Formats `host:port`, with brackets around an IPv6 address. */
export function hostPort({ host, port }: DatabaseAddress): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}
