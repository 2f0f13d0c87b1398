import * as z from "zod";
import type { Frozen } from "../../../core/config/model/config.ts";
import { tlsSchema } from "../../../core/config/schema/tls-schema.ts";
import { checkTokenAddress } from "../../../core/config/schema/token-address.ts";
import { baseAddress, list, name, plainText, whenValid } from "../../../core/config/schema/value-schemas.ts";

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
        .describe("File with a token of the peer's pause_tokens on its first line. Default: no token"),
      tls: tlsSchema("the peer").nullable().prefault(null).describe("TLS of connections to the peer"),
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
  .transform(({ token_file: tokenFile, name: given, ...written }) => ({
    ...written,
    name: given ?? new URL(written.url).host,
    tokenFile,
  }));

/** The key `peers`. */
export const peersSchema = list(peerSchema, 8).describe(
  "Other rolecalls that let the clients of poolers go on if this one dies during a planned switchover",
);

/** Another rolecall, which resumes what this one has paused and no longer can resume. Files are absolute paths. */
export type PeerConfig = Frozen<z.output<typeof peerSchema>>;

declare module "../../../core/config/model/config.ts" {
  interface FeatureConfigs {
    readonly peers: readonly PeerConfig[];
  }
}
