/** The scrypt hash of a password and its cost parameters (RFC 7914). */
export interface ScryptHash {
  /** log2 of the cost: 2^15 takes about 32 MiB and a tenth of a second. */
  readonly costLog2: number;
  readonly blockSize: number;
  readonly parallel: number;
  readonly salt: Buffer;
  readonly hash: Buffer;
}

/** What {@link hasScryptForm} accepts, for messages. */
export const scryptHashAllowed = "a hash as rolecall hash-password prints it: scrypt$15$8$1$SALT$HASH";

const pattern = /^scrypt\$(\d{1,9})\$(\d{1,9})\$(\d{1,9})\$([A-Za-z0-9+/]{11,86})\$([A-Za-z0-9+/]{22,86})$/;

/** Allowed costs of one password check: [least, most]. A lower cost would make guessing easy. */
const bounds = { costLog2: [12, 17], blockSize: [8, 8], parallel: [1, 4] } as const;
/**
 * The greatest cost (2^costLog2) times `parallel`. It takes half a second of one core and 128 MiB; it is the most
 * expensive setting that OWASP recommends.
 */
const workMax = 2 ** 17;

/** What {@link parseScryptHash} accepts, for messages. */
export const scryptCostAllowed =
  "a hash of bounded cost: scrypt$LOG2N$R$P$SALT$HASH with LOG2N from 12 to 17, R 8, P from 1 to 4, and 2^LOG2N times P at most 2^17";

/** Whether a text has the form of a hash, whatever its costs. */
export function hasScryptForm(text: string): boolean {
  return pattern.test(text);
}

/**
 * Parses a hash: cost, block size, parallelism, then salt and hash in Base64, separated by `$`. No character of it is
 * special in YAML. Returns `undefined` for anything else, and for costs out of bounds.
 */
export function parseScryptHash(text: string): ScryptHash | undefined {
  const match = pattern.exec(text);
  if (match === null) return undefined;
  const [, cost, block, parallel, salt = "", hash = ""] = match;
  const costs = { costLog2: Number(cost), blockSize: Number(block), parallel: Number(parallel) };
  const isBounded =
    within(costs.costLog2, bounds.costLog2) &&
    within(costs.blockSize, bounds.blockSize) &&
    within(costs.parallel, bounds.parallel) &&
    2 ** costs.costLog2 * costs.parallel <= workMax;
  return isBounded ? { ...costs, salt: Buffer.from(salt, "base64"), hash: Buffer.from(hash, "base64") } : undefined;
}

/** Formats a hash so that {@link parseScryptHash} accepts it: Base64 without padding. */
export function formatScryptHash({ costLog2, blockSize, parallel, salt, hash }: ScryptHash): string {
  return `scrypt$${costLog2}$${blockSize}$${parallel}$${bare(salt)}$${bare(hash)}`;
}

function within(value: number, [least, most]: readonly [number, number]): boolean {
  return value >= least && value <= most;
}

function bare(bytes: Buffer): string {
  return bytes.toString("base64").replace(/=+$/, "");
}
