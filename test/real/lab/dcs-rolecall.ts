/** rolecall before nodes that are no Patroni, with the DCS of their cluster. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { until } from "../../fake/until.ts";
import { ask } from "./ask.ts";
import { Child } from "./child.ts";
import { ports, requireFree } from "./ports.ts";
import { program } from "./rolecall.ts";

/**
 * Starts it, and waits until it is ready.
 * @param folder for its files
 * @param dcs the key `dcs` of the cluster
 */
export async function startWithDcs(
  folder: string,
  nodes: readonly { readonly name: string; readonly api: string }[],
  dcs: object,
): Promise<Child> {
  await requireFree([ports.rolecall, ports.rolecallAdmin]);
  const file = join(folder, "rolecall.yaml");
  const configuration = {
    clusters: [{ name: "demo", scope: "demo", nodes: nodes.map(({ name, api }) => ({ name, api })), dcs }],
    listen: [{ port: ports.rolecall }, { port: ports.rolecallAdmin, dialect: "admin" }],
  };
  writeFileSync(file, JSON.stringify(configuration)); // JSON is YAML
  const command = [process.execPath, program, "serve", "--config", file] as const;
  const child = new Child({ name: "rolecall", command, folder });
  const wait = { what: "ready rolecall", evidence: (): string => child.tail };
  await until(wait, async () => (await ask({ port: ports.rolecallAdmin, path: "/readyz" })).status === 200);
  return child;
}
