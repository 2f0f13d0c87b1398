import * as z from "zod";
import { baseAddress, plainText, whenValid } from "./value-schemas.ts";
import { tlsSchema } from "./tls-schema.ts";
import { checkTokenAddress } from "./token-address.ts";

const allowed = "an address such as https://core1:9108, or a mapping with the keys url, token_file and tls";
const noMore = { tokenFile: null, tls: null } as const;

const detailedSchema = z
  .strictObject(
    {
      url: baseAddress("https://core1:9108", []).describe("An admin listener of a rolecall that probes the cluster"),
      token_file: plainText("the name of a file", 4096)
        .nullable()
        .default(null)
        .describe("File with a token of that listener on its first line. Default: no token"),
      tls: tlsSchema("the instance that is followed")
        .nullable()
        .prefault(null)
        .describe("TLS of connections to that listener"),
    },
    { error: allowed },
  )
  .superRefine((written, context) => checkTokenAddress(written, "url", context), whenValid("url", "token_file"))
  .transform(({ token_file: tokenFile, ...written }) => ({ ...written, tokenFile }));

const plainSchema = baseAddress("https://core1:9108", []).transform((url) => ({ url, ...noMore }));

/** One entry of `follow`: where the outcomes of clusters come from. */
export const upstreamSchema = z.union([plainSchema, detailedSchema], { error: allowed });

/** How many upstreams there may be. */
export const upstreamsMax = 8;
