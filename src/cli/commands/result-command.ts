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

/** `rolecall result show|validate FILE|-`: reads a `cli.result/v1` document of this or another tool. */
export async function resultCommand(context: CommandContext): Promise<void> {
  const { args, result, print } = context;
  const [verb = "", file = ""] = args.positionals;
  const text = await readText(context, file);
  result.cover("document", "complete", { detail: file === "-" ? "stdin" : file });
  const read = readResult(text);
  if (!read.ok) {
    const location = { file: file === "-" ? "<stdin>" : file, kind: "output" as const };
    for (const { pointer, message } of read.violations) {
      result.diagnose("RC080", {
        message: `${pointer === "" ? "the document" : pointer}: ${message}`,
        location: { ...location, pointer },
      });
    }
    result.data = { valid: false, violations: read.violations };
    return;
  }
  const document = read.result;
  result.data = { valid: true, ...(verb === "show" ? { document } : {}) };
  print(verb === "show" ? renderResult(document, context) : `${file} conforms to ${document.schema_version}\n`);
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
