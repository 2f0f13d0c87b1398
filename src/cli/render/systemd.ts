import { isAbsolute, join } from "node:path";
import type { DatabaseAddress } from "../../cluster/node.ts";
import { isLocal } from "../client/fetch-status.ts";
import { requireConfig } from "../client/probed-status.ts";
import { defaultServers } from "../../command/connect/listener-finder.ts";
import type { CommandContext } from "../../command/framework/command-context.ts";
import { CommandError } from "../../command/framework/command-error.ts";
import { hostPort } from "./input/edges.ts";
import { deployFile } from "./output/deploy-file.ts";
import { writeRendered, type RenderedFile } from "./output/rendered-files.ts";

/** What the rendered systemd service depends on. */
interface UnitOptions {
  /** The addresses of the listeners, in the order of the configuration. */
  readonly listen: readonly DatabaseAddress[];
  /** The absolute path of the executable. */
  readonly program: string;
  /** The absolute path of the configuration file of the service. */
  readonly config: string;
  /** The user and group that the service runs as. */
  readonly user: string;
}

const defaultProgram = "/usr/bin/rolecall";
const defaultConfig = "/etc/rolecall/rolecall.yaml";

/** A file of a rendered systemd service. */
interface UnitFile extends RenderedFile {
  /** Where it is installed. */
  readonly path: string;
}

/**
 * Renders a systemd service: the files of `deploy/systemd`, with what options change. With `--directory`, writes each
 * file there and returns the commands that install them; otherwise returns all files as one text, each below its path,
 * as `systemctl cat` prints units.
 * @throws CommandError (RC001) if an option is not valid; (RC006) if this installation of rolecall lacks a file; (RC150)
 * if a file cannot be written
 */
export function renderSystemd(context: CommandContext): string {
  const files = unitFiles(unitOptions(context));
  const directory = context.args.text("directory");
  if (directory === null) return files.map(({ path, text }) => `# ${path}\n${text}`).join("\n");
  writeRendered(directory, files);
  return installation(directory, files);
}

function installation(directory: string, files: readonly UnitFile[]): string {
  const lines = [
    ...files.map(({ name, path }) => `install -m 644 ${join(directory, name)} ${path}`),
    "systemd-sysusers rolecall.conf",
    "systemd-tmpfiles --create rolecall.conf",
    "systemctl daemon-reload",
    "systemctl enable --now rolecall.socket rolecall.service",
  ];
  return `# Install as root:\n${lines.join("\n")}\n`;
}

/** The service, its sockets, its user and its directories. */
function unitFiles({ listen, program, config, user }: UnitOptions): readonly UnitFile[] {
  // sd_listen_fds(3) passes the sockets in the order of the lines; rolecall assigns them in the order of `listen`.
  const sockets = listen.map((address) => `ListenStream=${hostPort(address).replaceAll("%", "%%")}`);
  const isDual = listen.some(({ host }) => host === "::");
  const folder = config.slice(0, config.lastIndexOf("/"));
  return [
    file("rolecall.socket", "/etc/systemd/system/rolecall.socket", [
      [`of ${defaultConfig},`, `of ${config},`],
      ["ListenStream=127.0.0.1:8008\nListenStream=127.0.0.1:9108", sockets.join("\n")],
      ["FreeBind=true", isDual ? "FreeBind=true\nBindIPv6Only=both" : "FreeBind=true"],
    ]),
    file("rolecall.service", "/etc/systemd/system/rolecall.service", [
      [`${defaultProgram} serve --config ${defaultConfig}`, `${program} serve --config ${config}`],
      ["User=rolecall", `User=${user}`],
      ["Group=rolecall", `Group=${user}`],
    ]),
    file("rolecall.sysusers.conf", "/etc/sysusers.d/rolecall.conf", [["u rolecall ", `u ${user} `]]),
    file("rolecall.tmpfiles.conf", "/etc/tmpfiles.d/rolecall.conf", [
      // Only the folder of the package is created.
      ["d /etc/rolecall 0750 root rolecall -\n", folder === "/etc/rolecall" ? `d ${folder} 0750 root ${user} -\n` : ""],
      ["0750 rolecall rolecall -", `0750 ${user} ${user} -`],
    ]),
  ];
}

function file(name: string, path: string, substitutions: readonly (readonly [string, string])[]): UnitFile {
  return { name, path, text: deployFile(`systemd/${name}`, substitutions) };
}

/**
 * Reads the options of the rendered systemd service, and the listeners of the configuration file if `--config` names
 * one. No node is probed.
 * @throws CommandError (RC001) if an option is not valid, or if a listener has port 0
 */
function unitOptions(context: CommandContext): UnitOptions {
  const { args } = context;
  const config = args.text("config");
  const listen = isLocal(context) ? listenersOf(context) : Object.values(defaultServers).map(addressOf);
  return {
    listen,
    program: absolute("program", args.text("program") ?? defaultProgram),
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
