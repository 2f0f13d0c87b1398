import type { CommandDescription, OptionSpec } from "../../core/command/framework/command-description.ts";
import { commonOptions } from "../../core/command/framework/options.ts";

/** The text of `rolecall --help`. */
export function overallHelp(
  groups: readonly { readonly title: string; readonly commands: readonly CommandDescription[] }[],
): string {
  const width = Math.max(...groups.flatMap(({ commands }) => commands.map(({ name }) => name.length)));
  return [
    "rolecall: health checks for PostgreSQL HA clusters, answered from memory",
    "",
    "Usage: rolecall COMMAND [OPTIONS]",
    "",
    ...groups.flatMap(({ title, commands }) => [
      `${title}:`,
      ...commands.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`),
      "",
    ]),
    "Exit codes: 0 no errors found, 1 findings of severity error, 2 the command could not complete.",
    "Run rolecall help COMMAND for details. Example: rolecall status",
    "",
  ].join("\n");
}

/** The text of `rolecall COMMAND --help`. */
export function commandHelp(spec: CommandDescription): string {
  const options = [...spec.options, ...commonOptions].map((option) => [signature(option), option.help] as const);
  const width = Math.max(...options.map(([left]) => left.length));
  return [
    `Usage: ${usageOf(spec)}`,
    "",
    spec.about,
    "",
    ...options.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`),
    "",
    `Example${spec.examples.length === 1 ? "" : "s"}:`,
    ...spec.examples.map((example) => `  ${example}`),
    "",
  ].join("\n");
}

/** The usage line of a command: `rolecall check CHECK [OPTIONS]`. */
export function usageOf({ name, positionals }: CommandDescription): string {
  return ["rolecall", name, ...(positionals === undefined ? [] : [positionals.usage]), "[OPTIONS]"].join(" ");
}

function signature({ name, short, value }: OptionSpec): string {
  return `${short === undefined ? "" : `-${short}, `}--${name}${value === undefined ? "" : ` ${value}`}`;
}
