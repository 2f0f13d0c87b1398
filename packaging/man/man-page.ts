/** The manual page rolecall(1), from the descriptions of the commands. */
import type { CommandDescription, OptionSpec } from "../../src/core/command/framework/command-description.ts";
import { optionsWithForms } from "../../src/core/command/framework/verbs.ts";
import { commonOptions, serverOptions } from "../../src/core/command/framework/options.ts";
import { usageOf } from "../../src/cli/specs/help.ts";
import { clientVariables } from "../../src/core/config/sources/client-variables.ts";

/** Options that many commands have: described once, in a section of their own. */
const shared: readonly OptionSpec[] = [...serverOptions, ...commonOptions];

/** Returns the page in the macros of man(7). It names no version and no date, so that only commands change it. */
export function manPage(commands: readonly CommandDescription[]): string {
  return [
    String.raw`.\" Generated from src/cli/specs: UPDATE_DOCS=1 with test/packaging/man-page.test.ts`,
    '.TH ROLECALL 1 "" "rolecall" "User Commands"',
    ".SH NAME",
    String.raw`rolecall \- health checks for PostgreSQL HA clusters, answered from memory`,
    ".SH SYNOPSIS",
    ".B rolecall",
    String.raw`.I COMMAND`,
    ".RI [ OPTIONS ]",
    ".SH DESCRIPTION",
    "rolecall probes every node of PostgreSQL high-availability clusters in the background, and answers the health",
    "checks of load balancers from memory. The service is",
    String.raw`.BR "rolecall serve" ;`,
    "the other commands query it, check a setup, or write configuration for other programs.",
    ".SH COMMANDS",
    ...commands.flatMap(commandLines),
    ".SH SERVER OPTIONS",
    "How commands find the running rolecall.",
    ...serverOptions.flatMap(optionLines),
    ".SH COMMON OPTIONS",
    "Every command has these.",
    ...commonOptions.flatMap(optionLines),
    ...closingLines(commands),
    "",
  ].join("\n");
}

function commandLines(spec: CommandDescription): readonly string[] {
  const { forms = [], verbs = [], options } = spec;
  const hasServer = options.some((option) => serverOptions.includes(option));
  const examples = [...spec.examples, ...forms.flatMap((form) => form.examples)];
  // What needs a verb does nothing itself: its verbs have examples and options.
  const isAlone = spec.positionals?.least !== 1 || verbs.length === 0;
  return [
    `.SS "${escape(usageOf(spec))}"`,
    ...forms.flatMap((form) => [".PP", `.B "${escape(usageOf(form))}"`]),
    ...(forms.length === 0 ? [] : [".PP"]),
    ...textLines([spec.about, ...forms.map((form) => form.about)].join("\n")),
    ...optionsWithForms(spec)
      .filter((option) => !shared.includes(option))
      .flatMap(optionLines),
    ...(isAlone
      ? [
          ".PP",
          hasServer ? "The server options and the common options apply." : "The common options apply.",
          ".PP",
          examples.length === 1 ? "Example:" : "Examples:",
          ".PP",
          ".nf",
          ...examples.map((example) => String.raw`\&    ${escape(example)}`),
          ".fi",
        ]
      : []),
    ...verbs.flatMap(commandLines),
  ];
}

function optionLines({ name, short, value, help }: OptionSpec): readonly string[] {
  const flags = [...(short === undefined ? [] : [`-${short}`]), `--${name}`].map((flag) => `\\fB${escape(flag)}\\fR`);
  return [".TP", `${flags.join(", ")}${value === undefined ? "" : ` \\fI${escape(value)}\\fR`}`, ...textLines(help)];
}

function closingLines(commands: readonly CommandDescription[]): readonly string[] {
  const serve = commands.find(({ name }) => name === "serve");
  const signals = serve?.about.split("\n").find((line) => line.startsWith("Signals:")) ?? "";
  return [
    ".SH EXIT STATUS",
    ...definition("0", "No errors were found."),
    ...definition("1", "There are findings of severity error."),
    ...definition("2", "The command could not complete."),
    ".SH SIGNALS",
    `Of serve: ${escape(signals.replace("Signals: ", ""))}`,
    ".SH FILES",
    ...definition(
      "/etc/rolecall/rolecall.yaml",
      "The configuration of the service, if the package or the units installed it.",
    ),
    ...definition("/var/lib/rolecall", "The state file and the history of the service, where they are configured."),
    ...definition("/var/cache/rolecall", "The compiled code of the service, if the units started it from files."),
    ".SH ENVIRONMENT",
    ...Object.entries(clientVariables).flatMap(([option, variable]) =>
      definition(variable, `The option --${option} of commands that query a running rolecall.`),
    ),
    ...definition("ROLECALL_*", "Keys of the configuration, such as ROLECALL_PROBE_INTERVAL for probe.interval."),
  ];
}

function definition(term: string, text: string): readonly string[] {
  return [".TP", `.B ${escape(term)}`, ...textLines(text)];
}

function textLines(text: string): readonly string[] {
  return text.split("\n").map(escape);
}

/** A line of text for roff: backslashes and hyphens as they are, and never a request. */
function escape(text: string): string {
  const escaped = text
    .replaceAll("\\", String.raw`\e`)
    .replaceAll("-", String.raw`\-`)
    .replaceAll('"', String.raw`\(dq`);
  return /^[.']/.test(escaped) ? String.raw`\&${escaped}` : escaped;
}
