import type { CommandSpec, OptionSpec } from "../framework/command.ts";
import { commonOptions } from "../framework/options.ts";

/** What `rolecall --help` says. */
export function overallHelp(commands: readonly CommandSpec[]): string {
  const width = Math.max(...commands.map(({ name }) => name.length));
  return [
    "rolecall: answers load balancers for PostgreSQL clusters, from memory",
    "",
    "Usage: rolecall COMMAND [OPTIONS]",
    "",
    ...commands.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`),
    "",
    "Exit codes: 0 nothing wrong, 1 findings of severity error, 2 the command could not do its work.",
    "rolecall COMMAND --help tells more. Example: rolecall status",
    "",
  ].join("\n");
}

/** What `rolecall COMMAND --help` says. */
export function commandHelp(spec: CommandSpec): string {
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

/** `rolecall check CHECK [OPTIONS]` */
export function usageOf({ name, positionals }: CommandSpec): string {
  return ["rolecall", name, ...(positionals === undefined ? [] : [positionals.usage]), "[OPTIONS]"].join(" ");
}

function signature({ name, short, value }: OptionSpec): string {
  return `${short === undefined ? "" : `-${short}, `}--${name}${value === undefined ? "" : ` ${value}`}`;
}
