import type { CommandDescription, OptionSpec } from "../../core/command/framework/command-description.ts";
import { commonOptions, serverOptions } from "../../core/command/framework/options.ts";
import {
  optionsOf,
  positionalCandidates,
  quoted,
  valueCandidates,
  withVerbsOf,
  type Candidates,
} from "./candidates.ts";

/**
 * The completion script for bash. It splits the line at blanks itself: bash also splits at colons, as in URLs.
 */
export function bashScript(commands: readonly CommandDescription[]): string {
  const names = commands.map(({ name }) => name).join(" ");
  const all = withVerbsOf(commands);
  const verbs = commands.flatMap((command) => (command.verbs ?? []).map(({ name }) => ` ${name},`)).join("");
  return [
    "# rolecall completion for bash: source <(rolecall completion bash)",
    "_rolecall_names() {",
    `  local program="\${line[0]/#\\~/$HOME}"`,
    `  local names="$("$program" __complete "$1" "\${COMP_LINE:0:COMP_POINT}" 2>/dev/null </dev/null)"`,
    "  # bash replaces only what follows the last colon.",
    `  compgen -W "$names" -- "$current" | while read -r name; do echo "\${name#"\${current%"\${current##*:}"}"}"; done`,
    "}",
    "_rolecall() {",
    '  local -a line; read -ra line <<< "${COMP_LINE:0:COMP_POINT}"',
    '  [[ "${COMP_LINE:0:COMP_POINT}" == *" " ]] && line+=("")',
    '  local last=$((${#line[@]} - 1)) at word command="" position=0 words=""',
    '  local current="${line[last]}" previous="${line[last-1]}"',
    `  local valued=${quoted(valuedOptions([...commonOptions, ...serverOptions]))}`,
    `  local verbs=${quoted(verbs)}`,
    "  COMPREPLY=()",
    '  if [[ "$current" == --*=* ]]; then previous="${current%%=*}" current="${current#*=}"; fi',
    `  current="\${current#[\\"\\']}"`,
    "  for ((at = 1; at < last; at++)); do",
    '    word="${line[at]}"',
    '    if [[ "$valued" == *" $word "* ]]; then at=$((at + 1)); continue; fi',
    '    [[ "$word" == -* ]] && continue',
    '    if [ -z "$command" ]; then command="$word"',
    '    elif [[ $position == 0 && "$verbs" == *" $command $word,"* ]]; then command="$command $word"',
    "    else position=$((position + 1)); continue; fi",
    '    case "$command" in',
    ...all.map(valuedCase),
    "    esac",
    "  done",
    '  case "$command $previous" in',
    ...all.flatMap((spec) => optionsOf(spec).flatMap((option) => valueCase(spec.name, option))),
    ...[...commonOptions, ...serverOptions].flatMap((option) => valueCase("", option)),
    "  esac",
    '  if [ -z "$command" ]; then',
    `    COMPREPLY=($(compgen -W ${quoted(names)} -- "$current"))`,
    "    return",
    "  fi",
    '  if [[ "$current" == -* ]]; then',
    '    case "$command" in',
    ...all.map(optionsCase),
    "    esac",
    '    COMPREPLY=($(compgen -W "$words" -- "$current"))',
    "    return",
    "  fi",
    '  case "$command $((position > 0))" in',
    ...all.flatMap(positionalCases),
    "  esac",
    "}",
    "complete -F _rolecall rolecall",
    "",
  ].join("\n");
}

function optionsCase(spec: CommandDescription): string {
  const names = optionsOf(spec).map(({ name }) => `--${name}`);
  return `      "${spec.name}") words=${quoted(names.join(" "))} ;;`;
}

/** The options with values while these words are all: those of its verbs may stand before the verb. */
function valuedCase(spec: CommandDescription): string {
  const options = [...optionsOf(spec), ...(spec.verbs ?? []).flatMap((verb) => verb.options)];
  return `      "${spec.name}") valued=${quoted(valuedOptions(options))} ;;`;
}

function valuedOptions(options: readonly OptionSpec[]): string {
  const names = options.flatMap((option) => (option.value === undefined ? [] : spellingsOf(option)));
  return ` ${names.join(" ")} `;
}

function valueCase(command: string, option: OptionSpec): readonly string[] {
  if (option.value === undefined) return [];
  const patterns = spellingsOf(option).map((spelling) => `"${command} ${spelling}"`);
  return [`    ${patterns.join("|")}) ${reply(valueCandidates(option))}return ;;`];
}

function spellingsOf({ name, short }: OptionSpec): readonly string[] {
  return [`--${name}`, ...(short === undefined ? [] : [`-${short}`])];
}

function positionalCases(spec: CommandDescription): readonly string[] {
  const { first, rest } = positionalCandidates(spec);
  return [[0, first] as const, [1, rest] as const].flatMap(([position, candidates]) =>
    candidates.kind === "nothing" ? [] : [`    "${spec.name} ${position}") ${reply(candidates)};;`],
  );
}

/** A statement that sets the reply, with a semicolon after it; the empty text if there is nothing to propose. */
function reply(candidates: Candidates): string {
  switch (candidates.kind) {
    case "words":
      return `COMPREPLY=($(compgen -W ${quoted(candidates.words.join(" "))} -- "$current")); `;
    case "file":
      return 'compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- "$current"); ';
    case "names":
      return `COMPREPLY=($(_rolecall_names ${candidates.of})); `;
    case "nothing":
      return "";
  }
}
