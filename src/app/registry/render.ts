import type { AgentChecksBringer, RenderTarget } from "../../core/command/render/render-target.ts";
import { agentChecks } from "../../features/agent/tools.ts";
import { haproxyTargets } from "../../features/haproxy/tools.ts";
import { xdsTargets } from "../../features/xds/tools.ts";

/** What features let `rolecall render` write. */
export const featureTargets: readonly RenderTarget[] = [...haproxyTargets, ...xdsTargets];

/** How HAProxy asks the agents: of one feature at most. */
export const featureAgentChecks: readonly AgentChecksBringer[] = [...agentChecks];

/** The order in the help of what can be rendered, and of the options for load balancers. */
export const renderOrder: { readonly kinds: readonly string[]; readonly options: readonly string[] } = {
  kinds: ["haproxy", "envoy", "prometheus", "alerts", "dashboard", "patroni"],
  options: [
    "edge",
    "bind",
    "write-port",
    "read-port",
    "check-port",
    "stats-port",
    "agent",
    "runtime-socket",
    "follow-members",
    "lag",
    "lag-time",
    "zone",
    "bare",
    "xds",
    "xds-port",
  ],
};
