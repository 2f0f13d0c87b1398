import type { AgentChecksBringer } from "../../core/command/render/render-target.ts";

/** What `rolecall render haproxy` writes so that HAProxy asks the agents. */
export const agentChecks: readonly AgentChecksBringer[] = [
  {
    options: [
      {
        name: "agent",
        value: "PORT",
        help: "port of each rolecall's agent listener; HAProxy's read pools then have agent checks (default: none)",
      },
    ],
    load: async () => (await import("./haproxy-agent.ts")).haproxyAgentChecks,
  },
];
