import type * as z from "zod";
import { isLoopback } from "../values/loopback.ts";

/** Whether others on the network could read what is sent to the base address of an API. */
function isReadable(address: string): boolean {
  const { protocol, hostname } = new URL(address);
  return protocol === "http:" && !isLoopback(hostname.replace(/^\[|\]$/g, ""));
}

/**
 * Refuses an address that a token would be sent to in clear text.
 * @param written the keys of the mapping; the token is sent only if there is a `token_file`
 * @param address the key of the address
 */
export function checkTokenAddress<Key extends string>(
  written: Readonly<Record<Key, string>> & { readonly token_file: string | null },
  address: Key,
  context: z.RefinementCtx,
): void {
  if (written.token_file === null || !isReadable(written[address])) return;
  const message = "an https address, because a token is sent to it";
  context.addIssue({ code: "custom", path: [address], message });
}
