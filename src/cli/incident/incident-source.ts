import { createReadStream } from "node:fs";
import { formatByteSize } from "../../cluster/values/byte-size.ts";
import { type IncidentFile, readIncidentFile } from "../../replay/file/incident-file.ts";
import type { CommandContext } from "../framework/command-context.ts";
import { CommandError } from "../framework/command-error.ts";
import { errorMessage } from "../result/error-message.ts";
import { type CST, Composer, Lexer, LineCounter, Parser } from "yaml";

/** The largest incident file, in bytes. The live page has the same limit (src/web/past/worker.js). */
const bytesMax = 32 * 1024 * 1024;

/** An incident file as it was read. */
export interface IncidentSource {
  /** The name of the file, for messages. */
  readonly name: string;
  readonly bytes: Buffer;
}

/**
 * Reads an incident file; `-` is stdin.
 * @throws CommandError if it cannot be read (RC006) or is too large (RC179)
 */
export async function readIncidentSource(file: string, { io, signal }: CommandContext): Promise<IncidentSource> {
  const name = file === "-" ? "stdin" : file;
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    // One byte more than allowed shows that a file is too large.
    for await (const chunk of file === "-" ? io.stdin : createReadStream(file, { end: bytesMax, signal })) {
      const bytes = Buffer.from(chunk);
      length += bytes.length;
      chunks.push(bytes);
      if (length > bytesMax) break;
    }
  } catch (error) {
    throw new CommandError("RC006", `Cannot read ${name}: ${errorMessage(error)}`);
  }
  if (length > bytesMax)
    throw new CommandError(
      "RC179",
      `Cannot read ${name}: an incident file must have at most ${formatByteSize(bytesMax)}, got more`,
    );
  return { name, bytes: Buffer.concat(chunks) };
}

/** Parses an incident file. @throws CommandError (RC179) that names the file and what is invalid in it */
export function parseIncidentSource({ name, bytes }: IncidentSource): IncidentFile {
  let document: unknown;
  try {
    document = parseIncidentText(bytes.toString("utf8"));
  } catch (error) {
    throw new CommandError("RC179", `Cannot read ${name}: ${firstLine(error)}`);
  }
  try {
    return readIncidentFile(document, name);
  } catch (error) {
    throw new CommandError("RC179", firstLine(error));
  }
}

function firstLine(error: unknown): string {
  return errorMessage(error).split("\n")[0] ?? "";
}

/** The most keys of one mapping: a cluster with so many nodes would have them in one. */
const keysMax = 5_000;
/** How deep mappings and lists may be nested. */
const nestedMax = 64;

/**
 * Parses the text of an incident file. A mapping with too many keys is refused before its end is read: the library
 * compares each key with all others.
 * @throws Error for a text that is no single YAML document, or has too large or too deep mappings
 */
export function parseIncidentText(text: string): unknown {
  const lines = new LineCounter();
  const [document, ...more] = new Composer().compose(tokensOf(text, lines));
  const [error] = document?.errors ?? [];
  if (error !== undefined) {
    const { line, col } = lines.linePos(error.pos[0]);
    throw new Error(`${error.message} at line ${line}, column ${col}`);
  }
  if (more.length > 0) throw new Error("an incident file must be one YAML document, got several");
  return document === undefined ? null : document.toJS();
}

/** The tokens of the text, bounded while they are read. */
function* tokensOf(text: string, lines: LineCounter): Generator<CST.Token> {
  lines.addNewLine(0);
  const parser = new Parser(lines.addNewLine);
  for (const lexeme of new Lexer().lex(text)) {
    yield* parser.next(lexeme);
    refuseTooMuch(parser.stack);
  }
  yield* parser.end();
}

function refuseTooMuch(open: readonly CST.Token[]): void {
  if (open.length > nestedMax) throw new Error(`mappings and lists must be nested at most ${nestedMax} deep, got more`);
  const token = open.at(-1);
  const isMapping = token?.type === "block-map" || (token?.type === "flow-collection" && token.start.source === "{");
  if (isMapping && token.items.length > keysMax)
    throw new Error(`a mapping must have at most ${keysMax} keys, got more`);
}
