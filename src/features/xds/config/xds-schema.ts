import { isIP } from "node:net";
import * as z from "zod";
import type { DialectName, ListenerDialect } from "../../../core/config/values/listener-dialect.ts";
import type { Frozen } from "../../../core/config/model/config.ts";
import { parseHostPort } from "../../../core/config/values/address.ts";
import { duration, list, parsedText, plainText } from "../../../core/config/schema/value-schemas.ts";

/** The `xds` mapping of a listener. */
const xdsMapping = z
  .strictObject(
    {
      checks: parsedText({
        allowed: "an IP address and a port, such as 127.0.0.1:8007: Envoy sends checks to no name",
        pattern: /^\S+$/,
        parse: (text) => {
          const address = parseHostPort(text);
          return address !== undefined && isIP(address.host) !== 0 ? address : undefined;
        },
      })
        .nullable()
        .prefault("127.0.0.1:8007")
        .describe(
          "Where each Envoy sends the checks of its endpoints: its own listener rolecall-checks, as render envoy --xds " +
            "writes it. null: to the endpoints themselves",
        ),
      cut_within: duration("100ms", "1min")
        .prefault("2s")
        .describe(
          "How long an endpoint stays listed after a hard no, so that Envoy's check can close its sessions: at least twice " +
            "its interval",
        ),
      stale_after: duration("1s", "1d")
        .nullable()
        .default(null)
        .describe(
          "After how long without any assignment Envoy refuses new connections. Default: never, because a rolecall that is " +
            "stopped would be an outage",
        ),
      envoys: list(plainText("the node id of an Envoy", 128), 1_024).describe(
        "The node ids of the Envoys that a switchover waits for, and the audit names. Where allow, tls.client: required or " +
          "a loopback address keeps strangers out, all count",
      ),
    },
    { error: "a mapping with the keys checks, cut_within, stale_after and envoys" },
  )
  .transform(({ checks, cut_within: cutMs, stale_after: staleAfterMs, envoys }) => ({
    checksAt: checks,
    cutMs,
    staleAfterMs,
    envoys,
  }));

/** What Envoys get beside the members of pools. */
export type XdsConfig = Frozen<z.output<typeof xdsMapping>>;

declare module "../../../core/config/model/config.ts" {
  interface FeatureListenerConfigs {
    /** `null`: a listener of another dialect. */
    readonly xds: XdsConfig | null;
  }
}

declare module "../../../core/config/values/listener-dialect.ts" {
  interface FeatureDialects {
    readonly xds: true;
  }
}

/** The dialect of Envoys. */
export const xdsDialect: ListenerDialect = {
  name: "xds",
  meaning: "Envoy's endpoint discovery (gRPC): the entries of pools",
  protocol: "http2",
  ownKeys: ["xds"],
  lacks: ["node"],
  reasons: { auth: ": tls.client: required authenticates Envoys" },
};

/** Its key in an entry of `listen`. */
export const xdsKeys = {
  xds: xdsMapping.nullable().default(null).describe("Dialect xds: what Envoys get beside the members of pools"),
};

/** Fills in the defaults where a listener of the dialect says nothing. */
export function completeXds({ dialect, xds }: { readonly dialect: DialectName; readonly xds: XdsConfig | null }): {
  readonly xds: XdsConfig | null;
} {
  return { xds: dialect === "xds" ? (xds ?? xdsMapping.parse({})) : null };
}
