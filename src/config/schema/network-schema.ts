import * as z from "zod";
import { cidrAllowed, parseCidr } from "../values/cidr.ts";

/** The `proxy_protocol` mapping of a listener: the networks in its key `from`. */
export function proxyProtocolSchema(): z.ZodType<readonly string[]> {
  return z
    .strictObject(
      {
        from: networks()
          .min(1, { error: "a list of at least one address or network" })
          .describe(
            "Addresses and networks of balancers that send the preamble with every connection, such as 10.0.0.0/8. " +
              "Their connections without one are answered with 400",
          ),
      },
      { error: "a mapping with the key from" },
    )
    .transform(({ from }) => from);
}

/** A list of addresses and networks. */
export function networks(): z.ZodArray<z.ZodType<string>> {
  const error = "a list of at most 256 addresses or networks";
  return z.array(network(), { error }).max(256, { error });
}

function network(): z.ZodType<string> {
  return z.string({ error: cidrAllowed }).refine((text) => parseCidr(text) !== undefined, { error: cidrAllowed });
}
