import { optionsOf, positionalCandidates, quoted, valueCandidates } from "./candidates.js";
/** The completion script for zsh: to be sourced, or to be written to a file `_rolecall` on the fpath. */
export function zshScript(commands) {
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
        "  case $command in",
        ...commands.flatMap((spec) => [
            `    ${spec.name})`,
            "      _arguments -s \\",
            ...optionsOf(spec).map((option) => `        ${quoted(zshOption(option))} \\`),
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
function zshPositionals(spec) {
    const { first, rest } = positionalCandidates(spec);
    const usage = escaped(spec.positionals?.usage ?? "no arguments");
    return [`        ${quoted(`1:${usage}:${action(first)}`)} \\`, `        ${quoted(`*:${usage}:${action(rest)}`)}`];
}
function zshOption(option) {
    const { name, value, multiple, help } = option;
    const tail = value === undefined ? "" : `:${escaped(value)}:${action(valueCandidates(option))}`;
    return `${multiple === true ? "*" : ""}--${name}${value === undefined ? "" : "="}[${escaped(help)}]${tail}`;
}
function escaped(text) {
    return text.replaceAll(/[[\]:]/g, (char) => `\\${char}`);
}
function action(candidates) {
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
//# sourceMappingURL=zsh.js.map