import type { DatabaseAddress } from "../../cluster/node.ts";
import { hostPort } from "./input/edges.ts";
import type { RenderOptions } from "./input/options.ts";
import { resolving } from "./resolving.ts";
import type { Targets } from "./input/targets.ts";

/** Where HAProxy reaches the agent listener: that of the only instance, or the proxy in front of several. */
export function agentAddress({ edges }: Targets, { agentPort }: RenderOptions): DatabaseAddress | null {
  const [first] = edges;
  if (agentPort === null || first === undefined) return null;
  return edges.length === 1 ? { host: first.host, port: agentPort } : { host: "127.0.0.1", port: agentPort + 1 };
}

/** The proxy of agent checks, for several instances: the answers of one that died would stay in force. */
export function agentProxy({ edges }: Targets, { agentPort }: RenderOptions): readonly string[] {
  if (agentPort === null || edges.length < 2) return [];
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

/** The words of `default-server` that turn on agent checks. */
export function agentWords(address: DatabaseAddress | null): string {
  return address === null
    ? ""
    : ` agent-check agent-addr ${bracketed(address.host)} agent-port ${address.port} agent-inter 1s`;
}

/** The words of one `server` that name it to the agent. */
export function agentSend(address: DatabaseAddress | null, server: string, check: string): string {
  return address === null ? "" : ` agent-send "${server} ${check}\\n"`;
}

function bracketed(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}
