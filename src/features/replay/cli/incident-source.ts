import { createReadStream } from "node:fs";
import { formatByteSize } from "../../../core/cluster/values/byte-size.ts";
import { readIncidentFile, type IncidentFile } from "../file/incident-file.ts";
import { parseIncidentText } from "./incident-text.ts";
import type { CommandContext } from "../../../core/command/framework/command-context.ts";
import { CommandError } from "../../../core/command/framework/command-error.ts";
import { errorMessage } from "../../../core/cluster/values/error-message.ts";

/** The largest incident file, in bytes. The live page has the same limit (src/features/page/web/past/worker.js). */
const bytesMax = 32 * 1024 * 1024;

/** An incident file as it was read. */
export interface IncidentSource {
  /** The name of the file, for messages. */
  readonly name: string;
  readonly bytes: Buffer;
}

/**
 * Reads the incident file that the command names; `-` is stdin.
 * @throws CommandError if it cannot be read (RC006) or is too large (RC179)
 */
export async function readIncidentSource({ args, io, signal }: CommandContext): Promise<IncidentSource> {
  const [file = ""] = args.positionals;
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
