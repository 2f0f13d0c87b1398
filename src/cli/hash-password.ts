import { randomBytes, scryptSync } from "node:crypto";
import { createInterface } from "node:readline";
import { formatScryptHash } from "../config/scrypt-hash.ts";

const usage = `Usage: rolecall hash-password < FILE

Reads a password from standard input (its first line) and writes the hash of it for the configuration:
listen[].auth.basic[].scrypt. The password itself is kept nowhere.
`;

/** What one check of a password costs: 2^15 rounds of 1 KiB blocks, about 32 MiB (RFC 7914, section 2). */
const cost = { costLog2: 15, blockSize: 8, parallel: 1 };
const passwordMax = 1_024;

/**
 * `rolecall hash-password`: a hash for the configuration from a password on standard input.
 * @returns the exit code: 0 when it wrote one; 2 for flags it does not know, an empty password or one over 1024 characters
 */
export async function hashPassword(args: readonly string[]): Promise<number> {
  if (args.length > 0) {
    const isHelp = args[0] === "--help" || args[0] === "-h";
    (isHelp ? process.stdout : process.stderr).write(usage);
    return isHelp ? 0 : 2;
  }
  if (process.stdin.isTTY) process.stderr.write("Password (it will be shown as you type): ");
  const password = await firstLine();
  if (password === "" || password.length > passwordMax) {
    process.stderr.write(`Cannot hash the password as it must have 1 to ${passwordMax} characters: it has ${password.length}\n`);
    return 2;
  }
  process.stdout.write(`${hashOf(password)}\n`);
  return 0;
}

/** Hashes a password with a new salt. */
export function hashOf(password: string): string {
  const salt = randomBytes(16);
  const { costLog2, blockSize, parallel } = cost;
  const hash = scryptSync(password, salt, 32, { N: 2 ** costLog2, r: blockSize, p: parallel, maxmem: 128 * 1024 * 1024 });
  return formatScryptHash({ ...cost, salt, hash });
}

async function firstLine(): Promise<string> {
  const lines = createInterface({ input: process.stdin });
  for await (const line of lines) {
    lines.close();
    return line;
  }
  return "";
}
