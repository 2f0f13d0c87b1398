import type { CommandDescription, OptionSpec } from "../../core/command/framework/command-description.ts";
import { commandWordsOf, formOf, optionsWithForms, verbOf } from "../../core/command/framework/verbs.ts";
import { commonOptions, serverOptions } from "../../core/command/framework/options.ts";

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
    "Run rolecall help COMMAND for details, rolecall help options for what commands share. Example: rolecall status",
    "",
  ].join("\n");
}

/** The text of `rolecall COMMAND --help`: what is its own. The options that commands share have one line. */
export function commandHelp(spec: CommandDescription): string {
  const { about, forms = [], verbs = [], examples } = spec;
  const own = ownOptions(spec);
  const server = spec.options.some(isServerOption) ? "server, credentials, TLS, " : "";
  return [
    ...[spec, ...verbs, ...forms].flatMap(usages).map((usage, at) => `${at === 0 ? "Usage:" : "      "} ${usage}`),
    "",
    about,
    "",
    ...(forms.length === 0 ? [] : [forms.map((form) => form.about).join("\n"), ""]),
    ...(verbs.length === 0 ? [] : [`Verbs (rolecall help ${verbs[0]?.name ?? ""} for details):`]),
    ...columns(verbs.map((verb) => [verbOf(verb), verb.summary])),
    ...(verbs.length === 0 ? [] : [""]),
    ...columns(own.map((option) => [signature(option), option.help])),
    ...(own.length === 0 ? [] : [""]),
    `Options that commands share (${server}output): rolecall help options`,
    "",
    `Example${examples.length === 1 ? "" : "s"}:`,
    ...[...examples, ...forms.flatMap((form) => form.examples)].map((example) => `  ${example}`),
    "",
  ].join("\n");
}

/** The text of `rolecall help options`. */
export function optionsHelp(): string {
  return [
    ...section("Output, of every command:", commonOptions),
    ...section("Server, of the commands that ask a running rolecall:", serverOptions),
    "Times are read alike in options, files and queries: 500ms, 30s, 5m or 5min, 2h, 14d. So are sizes: 16kB, 1.5MB, 1GB.",
    "An option of the server may also come from a variable, such as ROLECALL_SERVER, or from a context (docs/cli.md).",
    "",
  ].join("\n");
}

function section(title: string, options: readonly OptionSpec[]): readonly string[] {
  return [title, ...columns(options.map((option) => [signature(option), option.help])), ""];
}

/** The options that a command and its forms have beside the shared ones, which help explains once. */
export function ownOptions(spec: CommandDescription): readonly OptionSpec[] {
  return optionsWithForms(spec).filter((option) => !isServerOption(option));
}

/** The usage line of a command: `rolecall check CHECK [OPTIONS]`; of a form `rolecall drain NODE --end [OPTIONS]`. */
export function usageOf(spec: CommandDescription): string {
  const option = spec.options.find(({ name }) => spec.name.includes(" --") && name === formOf(spec));
  const { positionals } = spec;
  return [
    `rolecall ${commandWordsOf(spec)}`,
    ...(positionals === undefined ? [] : [positionals.usage]),
    ...(option === undefined ? [] : [`--${option.name}${option.value === undefined ? "" : ` ${option.value}`}`]),
    "[OPTIONS]",
  ].join(" ");
}

/** The usage lines of a command and of the forms of a verb. A command with verbs has their lines instead of its own choice. */
function usages(spec: CommandDescription): readonly string[] {
  const forms = (spec.forms ?? []).filter(() => spec.name.includes(" "));
  if (spec.verbs === undefined) return [usageOf(spec), ...forms.map(usageOf)];
  return spec.positionals?.least === 1 ? [] : [`rolecall ${spec.name} [OPTIONS]`];
}

function isServerOption({ name }: OptionSpec): boolean {
  return serverOptions.some((option) => option.name === name);
}

function columns(rows: readonly (readonly [string, string])[]): readonly string[] {
  const width = Math.max(0, ...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`);
}

function signature({ name, short, value }: OptionSpec): string {
  return `${short === undefined ? "" : `-${short}, `}--${name}${value === undefined ? "" : ` ${value}`}`;
}
