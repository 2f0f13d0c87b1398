import { isAbsolute } from "node:path";
import type { DatabaseAddress } from "../../../cluster/node.ts";
import { isLocal, requireConfig } from "../../client/cluster-status.ts";
import { defaultServers } from "../../connect/listener-finder.ts";
import type { CommandContext } from "../../framework/command-context.ts";
import { CommandError } from "../../framework/command-error.ts";

/** What the rendered systemd service depends on. */
export interface UnitOptions {
  /** The addresses of the listeners, in the order of the configuration. */
  readonly listen: readonly DatabaseAddress[];
  /** The absolute path of the executable. */
  readonly program: string;
  /** The absolute path of the configuration file of the service. */
  readonly config: string;
  /** The user and group that the service runs as. */
  readonly user: string;
}

const defaultConfig = "/etc/rolecall/rolecall.yaml";

/**
 * Reads the options of the rendered systemd service, and the listeners of the configuration file if `--config` names
 * one. No node is probed.
 * @throws CommandError (RC001) if an option is not valid, or if a listener has port 0
 */
export function unitOptions(context: CommandContext): UnitOptions {
  const { args } = context;
  const config = args.text("config");
  const listen = isLocal(context) ? listenersOf(context) : Object.values(defaultServers).map(addressOf);
  return {
    listen,
    program: absolute("program", args.text("program") ?? "/usr/bin/rolecall"),
    config: config !== null && isAbsolute(config) ? absolute("config", config) : defaultConfig,
    user: userName(args.text("user") ?? "rolecall"),
  };
}

function listenersOf(context: CommandContext): readonly DatabaseAddress[] {
  return requireConfig(context).listen.map(({ address, port }) => {
    if (port === 0)
      throw new CommandError("RC001", `Cannot render a socket for ${address}: the port of its listener must not be 0`);
    return { host: address, port };
  });
}

function addressOf(url: string): DatabaseAddress {
  const { hostname, port } = new URL(url);
  return { host: hostname, port: Number(port) };
}

/** Paths go into unit files, where spaces, quotes and % are syntax. */
function absolute(option: string, path: string): string {
  if (isAbsolute(path) && /^[\w./@+-]+$/.test(path)) return path;
  throw new CommandError(
    "RC001",
    `--${option} must be an absolute path of letters, digits and _ . / @ + - only, got ${JSON.stringify(path)}`,
  );
}

function userName(name: string): string {
  if (/^[a-z_][a-z0-9_-]{0,30}$/.test(name)) return name;
  throw new CommandError(
    "RC001",
    `--user must be the name of a system user such as rolecall, got ${JSON.stringify(name)}`,
  );
}
