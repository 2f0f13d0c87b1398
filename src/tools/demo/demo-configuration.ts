import type { ConfigSources } from "../../core/config/load.ts";

/** What the configuration of a demo depends on. */
export interface DemoSettings {
  readonly clusters: readonly { readonly scope: string; readonly nodes: readonly { readonly url: string }[] }[];
  /** The port of the health listener; 0: any free port. */
  readonly health: number;
  /** The port of the admin listener, likewise. */
  readonly admin: number;
  /** By default `warn`, so that the log does not push the banner off the screen. */
  readonly logLevel: string | undefined;
}

/**
 * The built-in configuration of the demo. It depends on no file, and on no environment variable: a setting of the
 * user's own rolecall must not change what the banner promises.
 */
export function demoSources({ clusters, health, admin, logLevel = "warn" }: DemoSettings): ConfigSources {
  const address = "127.0.0.1";
  const [first] = clusters;
  const isSole = clusters.length === 1;
  return {
    file: null,
    builtIn: {
      clusters: clusters.map(({ scope, nodes }) => ({ name: scope, discover: nodes.map(({ url }) => url) })),
      listen: [
        {
          address,
          port: health,
          cluster: isSole ? first?.scope : "*",
          whole_cluster: isSole,
          management: "on",
        },
        { address, port: admin, dialect: "admin" },
      ],
    },
    env: {},
    flags: { logLevel },
  };
}
