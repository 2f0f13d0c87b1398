import { randomBytes, scryptSync } from "node:crypto";
import { formatScryptHash } from "../../core/config/values/scrypt-hash.ts";
import { CommandError } from "../../core/command/framework/command-error.ts";
import { readPassword } from "../../core/command/framework/read-password.ts";
import type { CommandContext } from "../../core/command/framework/command-context.ts";

/** The scrypt cost of one check: N = 2^15, r = 8, p = 1, which takes about 32 MiB (RFC 7914, section 2). */
const cost = { costLog2: 15, blockSize: 8, parallel: 1 };
const passwordMax = 1_024;

/**
 * `rolecall hash-password`: hashes a password for the configuration, typed on a terminal or piped to stdin. The
 * password itself is not stored.
 * @throws CommandError (RC001) unless the password has 1 to 1024 characters
 */
export async function hashPassword(context: CommandContext): Promise<void> {
  const { print, result } = context;
  const password = await readPassword(context);
  if (password === "" || password.length > passwordMax) {
    throw new CommandError(
      "RC001",
      `Cannot hash the password: it must have 1 to ${passwordMax} characters, got ${password.length}`,
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
