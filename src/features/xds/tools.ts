import type { ServerCheck } from "../../core/command/doctor/doctor-context.ts";
import type { RenderTarget } from "../../core/command/render/render-target.ts";

/** What `rolecall doctor` checks of Envoys that get endpoints by push. */
export const xdsServerChecks: readonly ServerCheck[] = [
  { id: "envoys", isListed: false, load: async () => (await import("./cli/check-envoys.ts")).checkEnvoys },
];

/** What `rolecall render` writes for them. */
export const xdsTargets: readonly RenderTarget[] = [
  {
    kind: "envoy",
    byOption: "xds",
    texts: null,
    options: [
      {
        name: "xds",
        help: "the pools of the configuration, whose endpoints rolecall pushes (needs a listener with the dialect xds)",
      },
      {
        name: "xds-port",
        value: "PORT",
        help: "the port of that listener on each rolecall (default: that of the configuration, or 8010)",
      },
    ],
    examples: [],
    load: async () => (await import("./render/envoy-xds.ts")).renderEnvoyXds,
  },
];
