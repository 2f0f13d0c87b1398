import { readFile } from "node:fs/promises";
import { CommandError } from "../framework/command.ts";
import type { Result } from "../result/document.ts";
import { readResult } from "../result/reader.ts";
import type { CommandContext } from "../framework/command-context.ts";
import { renderFindings } from "../output/findings.ts";
import { safe, safeLines } from "../output/style.ts";

/** The longest document that is read, in bytes. */
const documentMax = 64 * 1024 * 1024;

/** `rolecall result show|validate FILE|-`: reads any `cli.result/v1` document, also another tool's. */
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
  print(verb === "show" ? shown(document, context) : `${file} conforms to ${document.schema_version}\n`);
}

async function readText({ io, signal }: CommandContext, file: string): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    if (file !== "-") return await readFile(file, { encoding: "utf8", signal });
    for await (const chunk of io.stdin) {
      const bytes = Buffer.from(chunk);
      length += bytes.length;
      if (length > documentMax) throw new Error(`it has more than ${documentMax} bytes`);
      chunks.push(bytes);
    }
    return Buffer.concat(chunks).toString("utf8");
  } catch (error) {
    throw new CommandError(
      "RC006",
      `Cannot read ${file === "-" ? "stdin" : file}: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

/** The document for a person: what ran, what was found, what was looked at, what was run. */
function shown(document: Result, { style }: CommandContext): string {
  const { command, version, site, exit_code: exitCode, diagnostics, coverage, evidence, data } = document;
  const head = `${safe(command)} (version ${safe(version)}${site === undefined ? "" : `, site ${safe(site)}`}): exit code ${exitCode}\n`;
  const findings = diagnostics.length === 0 ? "no findings\n" : renderFindings(diagnostics, style);
  const covered = coverage.map(
    ({ id, status, required, detail }) =>
      `  ${status.padEnd(14)} ${safe(id)}${required ? " (required)" : ""}: ${safe(detail)}\n`,
  );
  const ran = evidence.map(
    ({ command: argv, exit_code: code, stdout, stderr }) =>
      `  ${safe(argv.join(" "))}: exit code ${code}\n${indented(stdout)}${indented(stderr)}`,
  );
  return [
    style.bold(head),
    findings,
    ...(covered.length === 0 ? [] : ["\nchecks:\n", ...covered]),
    ...(ran.length === 0 ? [] : ["\ncommands run:\n", ...ran]),
    ...(data === undefined ? [] : ["\ndata:\n", `${safeLines(JSON.stringify(data, null, 2))}\n`]),
  ].join("");
}

function indented(text: string): string {
  return text.trim() === "" ? "" : `${safeLines(text.trimEnd()).replaceAll(/^/gm, "    ")}\n`;
}
