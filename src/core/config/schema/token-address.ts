import type * as z from "zod";
import { secretProblem } from "../../cluster/values/secret-destination.ts";

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
  if (written.token_file === null) return;
  const problem = secretProblem("instance_token", { address: written[address], word: "configured" });
  if (problem === null) return;
  const message = `an ${problem} address, because a token is sent to it`;
  context.addIssue({ code: "custom", path: [address], message });
}
