import type { CommandDescription, OptionSpec } from "../../core/command/framework/command-description.ts";
import {
  optionsOf,
  positionalCandidates,
  quoted,
  valueCandidates,
  withVerbsOf,
  type Candidates,
} from "./candidates.ts";

/** The completion script for zsh: to be sourced, or to be written to a file `_rolecall` on the fpath. */
export function zshScript(commands: readonly CommandDescription[]): string {
  return [
    "#compdef rolecall",
    "# rolecall completion for zsh: write it to a file named _rolecall on your fpath",
    "_rolecall_names() {",
    "  local -a names",
    '  names=(${(f)"$(${~rolecall_line[1]} __complete $1 "${(j: :)rolecall_line}" 2>/dev/null </dev/null)"})',
    "  (( $#names )) && compadd -a names",
    "}",
    "_rolecall() {",
    "  local -a rolecall_line=($words[1,CURRENT])",
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
    ...verbLines(commands),
    "  case $command in",
    ...withVerbsOf(commands).flatMap((spec) => [
      `    ${quoted(spec.name)})`,
      "      _arguments -s \\",
      ...optionsOf(spec).flatMap((option) => zshOption(option).map((spelling) => `        ${quoted(spelling)} \\`)),
      ...zshPositionals(spec),
      "      ;;",
    ]),
    "  esac",
    "}",
    // If sourced, the script registers the function. If autoloaded from the fpath, it is the function.
    'if [ "$funcstack[1]" = "_rolecall" ]; then _rolecall "$@"; else compdef _rolecall rolecall; fi',
    "",
  ].join("\n");
}

/** Takes the verb out of the words: the first one before the cursor that the command has. */
function verbLines(commands: readonly CommandDescription[]): readonly string[] {
  const verbs = commands.flatMap((command) => (command.verbs ?? []).map(({ name }) => ` ${name},`)).join("");
  return [
    `  local verbs=${quoted(verbs)} at`,
    "  for (( at = 2; at < CURRENT; at++ )); do",
    '    if [[ "$verbs" == *" $command $words[at],"* ]]; then',
    '      command="$command $words[at]"',
    "      words[at]=()",
    "      (( CURRENT-- ))",
    "      break",
    "    fi",
    "  done",
  ];
}

function zshPositionals(spec: CommandDescription): readonly string[] {
  const { first, rest } = positionalCandidates(spec);
  const usage = escaped(spec.positionals?.usage ?? "no arguments");
  return [`        ${quoted(`1:${usage}:${action(first)}`)} \\`, `        ${quoted(`*:${usage}:${action(rest)}`)}`];
}

/** The specifications of an option: one for each of its spellings. */
function zshOption(option: OptionSpec): readonly string[] {
  const { name, short, value, multiple, help } = option;
  const tail = `[${escaped(help)}]${value === undefined ? "" : `:${escaped(value)}:${action(valueCandidates(option))}`}`;
  // One spelling excludes the other. The value follows `=` in the same word, or is the next word.
  const head = multiple === true ? "*" : short === undefined ? "" : `(-${short} --${name})`;
  const long = `${head}--${name}${value === undefined ? "" : "="}${tail}`;
  return short === undefined ? [long] : [`${head}-${short}${value === undefined ? "" : "+"}${tail}`, long];
}

function escaped(text: string): string {
  return text.replaceAll(/[[\]:]/g, (char) => `\\${char}`);
}

function action(candidates: Candidates): string {
  switch (candidates.kind) {
    case "words":
      return `(${candidates.words.join(" ")})`;
    case "file":
      return "_files";
    case "names":
      // The space keeps _arguments from adding arguments of its own.
      return ` _rolecall_names ${candidates.of}`;
    case "nothing":
      return " ";
  }
}
