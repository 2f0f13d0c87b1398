import * as z from "zod";
import { plainText } from "./value-schemas.ts";

/** A `tls` mapping of connections that rolecall makes. @param servers whose certificates are verified, with the article: `the nodes` */
export function tlsSchema(servers: string) {
  const file = "the name of a PEM file";
  return z
    .strictObject(
      {
        ca: plainText(file, 4096)
          .nullable()
          .default(null)
          .describe(`CA certificates that verify ${servers}. Default: those of the system`),
        cert: plainText(file, 4096)
          .nullable()
          .default(null)
          .describe(`Client certificate, where one is requested by ${servers}. Needs key`),
        key: plainText(file, 4096).nullable().default(null).describe("Key of the client certificate"),
        server_name: plainText("a host name", 253)
          .nullable()
          .default(null)
          .describe(`Name in the certificates of ${servers}. Default: the host of each address`),
        verify: z
          .enum(["full", "chain"], { error: "full or chain" })
          .default("full")
          .describe(`"chain" accepts any name in the certificates of ${servers}, and verifies only who signed them`),
      },
      { error: "a mapping with the keys ca, cert, key, server_name and verify" },
    )
    .transform(({ server_name: serverName, ...files }) => ({ ...files, serverName }));
}
