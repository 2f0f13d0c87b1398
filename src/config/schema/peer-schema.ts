import * as z from "zod";
import { tlsSchema } from "./tls-schema.ts";
import { checkTokenAddress } from "./token-address.ts";
import { baseAddress, name, plainText, whenValid } from "./value-schemas.ts";

/** One entry of `peers`. */
export const peerSchema = z
  .strictObject(
    {
      name: name().nullable().default(null).describe("Name of the peer in logs and reports. Default: host:port of url"),
      url: baseAddress("https://core2:9108", []).describe(
        "An admin listener of another rolecall whose configuration has the same poolers under the same names",
      ),
      token_file: plainText("the name of a file", 4096)
        .nullable()
        .default(null)
        .describe(
          "File with a token of the peer's pause_tokens on its first line. Read for each switchover. Default: no token",
        ),
      tls: tlsSchema("peer").nullable().prefault(null).describe("TLS of connections to the peer"),
    },
    { error: "a mapping with the keys name, url, token_file and tls" },
  )
  .superRefine(
    (written, context) => {
      checkTokenAddress(written, "url", context);
      if (written.token_file === null && (written.tls?.cert ?? null) === null) {
        const message = "set, or tls.cert and tls.key: a peer accepts nobody without a credential";
        context.addIssue({ code: "custom", path: ["token_file"], message });
      }
    },
    whenValid("url", "token_file", "tls"),
  )
  .transform(({ token_file: tokenFile, ...written }) => ({ ...written, tokenFile }));
