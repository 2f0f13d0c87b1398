import { readFile } from "node:fs/promises";
import { CommandError } from "../../core/command/framework/command-error.ts";
import type { Result } from "../../core/command/result/document.ts";
import { readResult } from "../../core/command/result/reader.ts";
import type { CommandContext } from "../../core/command/framework/command-context.ts";
import { renderFindings } from "../../core/command/output/findings.ts";
import { safe, safeLines } from "../../core/command/output/style.ts";
import { errorMessage } from "../../core/cluster/values/error-message.ts";

/** The maximum size of a document, in bytes. */
const documentMax = 64 * 1024 * 1024;

/** `rolecall result show FILE|-`: prints a `cli.result/v1` document of this or another tool as text. */
export async function showResult(context: CommandContext): Promise<void> {
  const document = await readDocument(context);
  if (document === null) return;
  context.result.data = { valid: true, document };
  context.print(renderResult(document, context));
}

/** `rolecall result validate FILE|-`: checks such a document against the schema. */
export async function validateResult(context: CommandContext): Promise<void> {
  const document = await readDocument(context);
  if (document === null) return;
  context.result.data = { valid: true };
  context.print(`${fileOf(context)} conforms to ${document.schema_version}\n`);
}

function fileOf({ args }: CommandContext): string {
  return args.positionals[0] ?? "";
}

/** The document that the command names; `null` if it is not valid: then each violation is a finding. */
async function readDocument(context: CommandContext): Promise<Result | null> {
  const { result } = context;
  const file = fileOf(context);
  const text = await readText(context, file);
  result.cover("document", "complete", { detail: file === "-" ? "stdin" : file });
  const read = readResult(text);
  if (read.ok) return read.result;
  const location = { file: file === "-" ? "<stdin>" : file, kind: "output" as const };
  for (const { pointer, message } of read.violations) {
    result.diagnose("RC080", {
      message: `${pointer === "" ? "the document" : pointer}: ${message}`,
      location: { ...location, pointer },
    });
  }
  result.data = { valid: false, violations: read.violations };
  return null;
}

async function readText({ io, signal }: CommandContext, file: string): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    if (file !== "-") return await readFile(file, { encoding: "utf8", signal });
    for await (const chunk of io.stdin) {
      const bytes = Buffer.from(chunk);
      length += bytes.length;
      if (length > documentMax) throw new Error(`the document has more than ${documentMax} bytes`);
      chunks.push(bytes);
    }
    return Buffer.concat(chunks).toString("utf8");
  } catch (error) {
    throw new CommandError("RC006", `Cannot read ${file === "-" ? "stdin" : file}: ${errorMessage(error)}`);
  }
}

/** Renders a document as text: command, findings, checks, programs that ran, data. */
function renderResult(document: Result, { style }: CommandContext): string {
  const { command, version, site, exit_code: exitCode, diagnostics, coverage, evidence, data } = document;
  const siteText = site === undefined ? "" : `, site ${safe(site)}`;
  const head = `${safe(command)} (version ${safe(version)}${siteText}): exit code ${exitCode}\n`;
  const findings = diagnostics.length === 0 ? "no findings\n" : renderFindings(diagnostics, style);
  const checks = coverage.map(
    ({ id, status, required, detail }) =>
      `  ${status.padEnd(14)} ${safe(id)}${required ? " (required)" : ""}: ${safe(detail)}\n`,
  );
  const programs = evidence.map(
    ({ command: argv, exit_code: code, stdout, stderr }) =>
      `  ${safe(argv.join(" "))}: exit code ${code}\n${indented(stdout)}${indented(stderr)}`,
  );
  return [
    style.bold(head),
    findings,
    ...(checks.length === 0 ? [] : ["\nchecks:\n", ...checks]),
    ...(programs.length === 0 ? [] : ["\ncommands run:\n", ...programs]),
    ...(data === undefined ? [] : ["\ndata:\n", `${safeLines(JSON.stringify(data, null, 2))}\n`]),
  ].join("");
}

function indented(text: string): string {
  return text.trim() === "" ? "" : `${safeLines(text.trimEnd()).replaceAll(/^/gm, "    ")}\n`;
}
