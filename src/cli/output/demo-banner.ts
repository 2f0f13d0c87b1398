import type { OpenListener } from "../../http/listener/listener-set.ts";

/** What a newcomer sees: where everything is, and three lines to try. */
export function demoBanner(
  listeners: readonly OpenListener[],
  nodes: readonly { readonly name: string; readonly url: string }[],
): string {
  const lines = listeners.map(
    ({ config, port }) => `  ${addressOf(config.address, port)}  ${purposes[config.dialect]}`,
  );
  const listener = listeners.find(({ config }) => config.dialect === "node");
  const base = listener === undefined ? "" : addressOf(listener.config.address, listener.port);
  const [first, second] = nodes;
  return [
    "",
    "rolecall answers for a simulated cluster. Listening:",
    ...lines,
    "Simulated nodes:",
    ...nodes.map(({ name, url }) => `  ${url}  ${name}`),
    "Try:",
    `  curl -i ${base}/primary`,
    `  curl -i '${base}/nodes/${second?.name ?? "pg2"}/replica?lag=1MB'`,
    `  curl -X POST ${first?.url ?? ""}/sim/${first?.name ?? "pg1"}/freeze   # then ask /primary again, and again after 30 s`,
    "Ctrl-C ends it.",
    "",
    "",
  ].join("\n");
}

const purposes = { node: "health checks", admin: "metrics", exporter: "a database exporter's API" } as const;

function addressOf(address: string, port: number): string {
  return `http://${address.includes(":") ? `[${address}]` : address}:${port}`;
}
