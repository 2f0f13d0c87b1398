import type { CommandDescription, OptionSpec } from "../framework/command-description.ts";
import type { CommandContext } from "../framework/command-context.ts";
import { commonOptions } from "../framework/options.ts";

/** `rolecall completion bash|zsh|fish`: prints a script generated from the command descriptions. */
export async function completion({ args, commands, result, print }: CommandContext): Promise<void> {
  const [shell = ""] = args.positionals;
  const script = shell === "fish" ? fish(commands) : shell === "zsh" ? zsh(commands) : bash(commands);
  result.data = { shell, script };
  print(script);
}

function optionsOf(spec: CommandDescription): readonly OptionSpec[] {
  return [...spec.options, ...commonOptions];
}

function candidatesOf(spec: CommandDescription): readonly string[] {
  return [...(spec.positionals?.choices ?? []), ...optionsOf(spec).map(({ name }) => `--${name}`)];
}

/**
 * Completes commands and options. After an option that takes a value, it completes the choices of that option, or file
 * names if it has none.
 */
function bash(commands: readonly CommandDescription[]): string {
  const cases = commands.map((spec) => `    ${spec.name}) words=${quoted(candidatesOf(spec).join(" "))} ;;`);
  return [
    "# rolecall completion for bash: source <(rolecall completion bash)",
    "_rolecall() {",
    '  local current="${COMP_WORDS[COMP_CWORD]}" previous="${COMP_WORDS[COMP_CWORD-1]}" words=""',
    "  COMPREPLY=()",
    '  if [ "$COMP_CWORD" -eq 1 ]; then',
    `    COMPREPLY=($(compgen -W ${quoted(commands.map(({ name }) => name).join(" "))} -- "$current"))`,
    "    return",
    "  fi",
    '  case "${COMP_WORDS[1]} $previous" in',
    ...commands.flatMap((spec) => optionsOf(spec).flatMap((option) => bashValue(spec, option))),
    "  esac",
    '  case "${COMP_WORDS[1]}" in',
    ...cases,
    "  esac",
    '  COMPREPLY=($(compgen -W "$words" -- "$current"))',
    '  [ "${#COMPREPLY[@]}" -gt 0 ] || COMPREPLY=($(compgen -f -- "$current"))',
    "}",
    "complete -o filenames -F _rolecall rolecall",
    "",
  ].join("\n");
}

function bashValue({ name: command }: CommandDescription, { name, value, choices }: OptionSpec): readonly string[] {
  if (value === undefined) return [];
  const candidates =
    choices === undefined ? 'compgen -f -- "$current"' : `compgen -W ${quoted(choices.join(" "))} -- "$current"`;
  return [`    "${command} --${name}") COMPREPLY=($(${candidates})); return ;;`];
}

function zsh(commands: readonly CommandDescription[]): string {
  const cases = commands.flatMap((spec) => [
    `    ${spec.name})`,
    "      _arguments -s \\",
    ...optionsOf(spec).map((option) => `        ${quoted(zshOption(option))} \\`),
    `        ${quoted(`*:${spec.positionals?.usage ?? "no arguments"}:${zshPositionals(spec)}`)}`,
    "      ;;",
  ]);
  return [
    "#compdef rolecall",
    "# rolecall completion for zsh: write it to a file named _rolecall on your fpath",
    "_rolecall() {",
    "  if (( CURRENT == 2 )); then",
    "    local -a known=(",
    ...commands.map(({ name, summary }) => `      ${quoted(`${name}:${summary.replaceAll(":", "\\:")}`)}`),
    "    )",
    "    _describe command known",
    "    return",
    "  fi",
    "  local command=$words[2]",
    "  shift words",
    "  (( CURRENT-- ))",
    "  case $command in",
    ...cases,
    "  esac",
    "}",
    // If sourced, the script registers the function. If autoloaded from the fpath, it is the function.
    'if [ "$funcstack[1]" = "_rolecall" ]; then _rolecall "$@"; else compdef _rolecall rolecall; fi',
    "",
  ].join("\n");
}

function zshPositionals({ positionals }: CommandDescription): string {
  return positionals?.choices === undefined ? "_files" : `(${positionals.choices.join(" ")})`;
}

function zshOption({ name, value, choices, multiple, help }: OptionSpec): string {
  const description = help.replaceAll(/[[\]:]/g, (char) => `\\${char}`);
  const values =
    choices === undefined ? (value?.startsWith("FILE") === true ? "_files" : "") : `(${choices.join(" ")})`;
  const tail = value === undefined ? "" : `:${value.replaceAll(/[[\]:]/g, (char) => `\\${char}`)}:${values}`;
  return `${multiple === true ? "*" : ""}--${name}${value === undefined ? "" : "="}[${description}]${tail}`;
}

function fish(commands: readonly CommandDescription[]): string {
  const noCommandYet = "'not __fish_seen_subcommand_from " + commands.map(({ name }) => name).join(" ") + "'";
  const lines = commands.flatMap((spec) => {
    const after = `-n '__fish_seen_subcommand_from ${spec.name}'`;
    const choices = spec.positionals?.choices;
    return [
      `complete -c rolecall -n ${noCommandYet} -f -a ${spec.name} -d ${quoted(spec.summary)}`,
      ...(choices === undefined ? [] : [`complete -c rolecall ${after} -f -a ${quoted(choices.join(" "))}`]),
      ...optionsOf(spec).map((option) => `complete -c rolecall ${after} ${fishOption(option)}`),
    ];
  });
  return [
    "# rolecall completion for fish: rolecall completion fish > ~/.config/fish/completions/rolecall.fish",
    ...lines,
    "",
  ].join("\n");
}

function fishOption({ name, short, value, choices, help }: OptionSpec): string {
  const argument = value === undefined ? "" : choices === undefined ? " -r" : ` -x -a ${quoted(choices.join(" "))}`;
  return `-l ${name}${short === undefined ? "" : ` -s ${short}`}${argument} -d ${quoted(help)}`;
}

/** Quotes text for POSIX shells, zsh and fish. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'"'"'`)}'`;
}
