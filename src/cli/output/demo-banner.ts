import type { OpenListener } from "../../http/listener/listener-set.ts";

/** The text that `rolecall serve` prints if it runs a simulated cluster: all addresses, and three commands to try. */
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
    "rolecall monitors a simulated cluster. Listening on:",
    ...lines,
    "Simulated nodes:",
    ...nodes.map(({ name, url }) => `  ${url}  ${name}`),
    "Try:",
    `  curl -i ${base}/primary`,
    `  curl -i '${base}/nodes/${second?.name ?? "pg2"}/replica?lag=1MB'`,
    `  curl -X POST ${first?.url ?? ""}/sim/${first?.name ?? "pg1"}/freeze` +
      "   # then repeat the first command, also after 30 s",
    "Press Ctrl-C to stop.",
    "",
    "",
  ].join("\n");
}

const purposes = { node: "health checks", admin: "metrics", exporter: "exporter API" } as const;

function addressOf(address: string, port: number): string {
  return `http://${address.includes(":") ? `[${address}]` : address}:${port}`;
}
