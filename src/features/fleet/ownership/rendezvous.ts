import { createHash } from "node:crypto";

const digests = new Map<string, number>();
/** More names than a fleet has. */
const digestsMax = 50_000;

/**
 * How strongly a cluster belongs to a member: the member with the highest score owns it (weighted rendezvous hashing). If
 * a member leaves, only its own clusters move.
 */
export function scoreOf(cluster: string, { id, weight }: { readonly id: string; readonly weight: number }): number {
  const mixed = mix(digestOf(cluster) ^ mix(digestOf(id)));
  // From 0 to 1, neither included.
  return -weight / Math.log((mixed + 1) / (2 ** 32 + 1));
}

/** The first 32 bits of the digest of a name. */
function digestOf(name: string): number {
  const known = digests.get(name);
  if (known !== undefined) return known;
  if (digests.size >= digestsMax) digests.clear();
  const digest = createHash("sha256").update(name).digest().readUInt32BE();
  digests.set(name, digest);
  return digest;
}

/** Spreads 32 bits over 32 bits: the finalizer of MurmurHash3. */
function mix(value: number): number {
  let bits = value ^ (value >>> 16);
  bits = Math.imul(bits, 0x85ebca6b);
  bits ^= bits >>> 13;
  bits = Math.imul(bits, 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}
