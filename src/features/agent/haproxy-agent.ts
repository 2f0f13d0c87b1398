import type { DatabaseAddress } from "../../core/cluster/node.ts";
import { hostPort } from "../../core/command/render/edges.ts";
import type { RenderOptions } from "../../core/command/render/options.ts";
import type { AgentChecks } from "../../core/command/render/render-target.ts";
import { resolving } from "../../core/command/render/resolving.ts";

/** How HAProxy asks the agent listeners of the edges, at the port of `--agent`; `null` without that option. */
export function haproxyAgentChecks(
  edges: readonly DatabaseAddress[],
  { agentPort }: RenderOptions,
): AgentChecks | null {
  const [first] = edges;
  if (agentPort === null || first === undefined) return null;
  const isAlone = edges.length === 1;
  const address = isAlone ? { host: first.host, port: agentPort } : { host: "127.0.0.1", port: agentPort + 1 };
  return {
    proxy: isAlone ? [] : agentProxy(edges, agentPort),
    words: ` agent-check agent-addr ${bracketed(address.host)} agent-port ${address.port} agent-inter 1s`,
    send: (server, check) => ` agent-send "${server} ${check}\\n"`,
  };
}

/** The proxy of agent checks, for several instances: the answers of one that died would stay in force. */
function agentProxy(edges: readonly DatabaseAddress[], agentPort: number): readonly string[] {
  return [
    "",
    "# Agent checks go to the first instance of rolecall that is ready.",
    "listen rolecall_agent",
    `  bind 127.0.0.1:${agentPort + 1}`,
    "  no log",
    "  timeout connect 250ms",
    "  timeout client 2s",
    "  timeout server 2s",
    "  timeout check 250ms",
    "  option httpchk GET /readyz",
    "  http-check expect status 200",
    `  default-server check inter 200ms fall 2 rise 2${resolving(edges.map(({ host }) => host))}`,
    ...edges.map(({ host, port }, at) => {
      const backup = at === 0 ? "" : " backup";
      return `  server rolecall${at + 1} ${hostPort({ host, port: agentPort })} port ${port}${backup}`;
    }),
  ];
}

function bracketed(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}
