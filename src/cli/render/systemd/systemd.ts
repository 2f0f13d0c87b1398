import { join } from "node:path";
import type { CommandContext } from "../../framework/command-context.ts";
import { writeRendered } from "../output/rendered-files.ts";
import { unitFiles, type UnitFile } from "./units.ts";
import { unitOptions } from "./unit-options.ts";

/**
 * Renders a systemd service. With `--directory`, writes each file there and returns the commands that install them;
 * otherwise returns all files as one text, each below its path, as `systemctl cat` prints units.
 * @throws CommandError (RC001) if an option is not valid; (RC150) if a file cannot be written
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
