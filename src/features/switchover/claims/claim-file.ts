import * as z from "zod";
import { errorMessage } from "../../../core/cluster/values/error-message.ts";
import { parseJson } from "../../../core/cluster/values/json.ts";
import { readRegularFileLater } from "../../../core/files/regular-file.ts";
import { replaceFile } from "../../../core/state/files/atomic-file.ts";
import { inTime, late } from "../../../core/state/files/in-time.ts";
import { type Claim, claimSchema } from "./claim.ts";

/** What must survive a restart: what was promised to others, and the highest number of each cluster. */
export interface KeptClaims {
  readonly promises: readonly Claim[];
  readonly generations: ReadonlyMap<string, number>;
}

const fileSchema = z.strictObject({
  format: z.literal(1),
  promises: z.array(claimSchema).max(1_024),
  generations: z.record(z.string().max(128), z.int().min(0)),
});

/** How long one read or write may take, in ms: a file system that hangs must not keep a claim waiting. */
const limitMs = 1_000;
/** The largest file, in bytes. */
const bytesMax = 32 * 1024 * 1024;

/** Reads what an earlier process kept. @returns `null` if there is no file @throws Error if it cannot be read */
export async function readClaims(path: string): Promise<KeptClaims | null> {
  try {
    const read = fileSchema.safeParse(parseJson(await promptly(readRegularFileLater(path, bytesMax))));
    if (!read.success) throw new Error("its content must be a list of claims of format 1");
    const { promises, generations } = read.data;
    return { promises, generations: new Map(Object.entries(generations)) };
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw new Error(`Cannot read ${path}: ${errorMessage(error)}`, { cause: error });
  }
}

/** Writes it, and waits until it is on the disk. @throws Error if it is not */
export async function writeClaims(path: string, { promises, generations }: KeptClaims): Promise<void> {
  const content = { format: 1, promises, generations: Object.fromEntries(generations) };
  await promptly(replaceFile(path, `${JSON.stringify(content, null, 1)}\n`));
}

async function promptly<Value>(promise: Promise<Value>): Promise<Value> {
  const value = await inTime(promise, limitMs);
  if (value === late) throw new Error(`the file system did not answer within ${limitMs} ms`);
  return value;
}
