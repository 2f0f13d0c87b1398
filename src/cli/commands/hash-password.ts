import { randomBytes, scryptSync } from "node:crypto";
import { createInterface } from "node:readline";
import { formatScryptHash } from "../../config/values/scrypt-hash.ts";
import { CommandError } from "../framework/command.ts";
import type { CommandContext } from "../framework/command-context.ts";

/** What one check of a password costs: 2^15 rounds of 1 KiB blocks, about 32 MiB (RFC 7914, section 2). */
const cost = { costLog2: 15, blockSize: 8, parallel: 1 };
const passwordMax = 1_024;

/**
 * `rolecall hash-password`: a hash for the configuration from a password on standard input. The password itself is kept nowhere.
 * @throws Stop for an empty password and for one over 1024 characters
 */
export async function hashPassword({ io, print, result }: CommandContext): Promise<void> {
  if (io.stdin.isTTY === true) await io.stderr.write("Password (it will be shown as you type): ");
  const password = await firstLine(io.stdin);
  if (password === "" || password.length > passwordMax) {
    throw new CommandError(
      "RC001",
      `Cannot hash the password as it must have 1 to ${passwordMax} characters: it has ${password.length}`,
    );
  }
  const scrypt = hashOf(password);
  result.data = { scrypt };
  print(`${scrypt}\n`);
}

/** Hashes a password with a new salt. */
export function hashOf(password: string): string {
  const salt = randomBytes(16);
  const { costLog2, blockSize, parallel } = cost;
  const hash = scryptSync(password, salt, 32, {
    N: 2 ** costLog2,
    r: blockSize,
    p: parallel,
    maxmem: 128 * 1024 * 1024,
  });
  return formatScryptHash({ ...cost, salt, hash });
}

async function firstLine(input: NodeJS.ReadableStream): Promise<string> {
  const lines = createInterface({ input });
  for await (const line of lines) {
    lines.close();
    return line;
  }
  return "";
}
