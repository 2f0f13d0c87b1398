/** Has Patroni announce changes of the leader to an instance of rolecall, as `rolecall render patroni` prints it. */
import { chmodSync, copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { giveToPostgres } from "../../test/real/lab/child.ts";
import type { PatroniNode } from "../../test/real/lab/patroni.ts";
import type { EdgeProcess } from "./edge-process.ts";

export class Hints {
  readonly #folder: string;
  readonly #script: string;

  /**
   * Renders the script and installs it.
   * @param folder of the cluster, where the configuration of each node is
   * @param tokenFile the token that the instance accepts
   * @throws Error with the output of `rolecall render patroni`
   */
  constructor(folder: string, edge: EdgeProcess, tokenFile: string) {
    this.#folder = folder;
    this.#script = join(folder, "rolecall-hint");
    const ownToken = join(folder, "rolecall-hint.token");
    copyFileSync(tokenFile, ownToken);
    writeFileSync(this.#script, edge.renderHints(this.#script, ownToken));
    chmodSync(this.#script, 0o755);
    giveToPostgres(this.#script);
    giveToPostgres(ownToken);
  }

  /** Adds the settings to the configuration of a node, which it reads at its start. */
  configure({ name }: PatroniNode): void {
    const file = join(this.#folder, `${name}.yml`);
    const configuration = JSON.parse(readFileSync(file, "utf8")) as { readonly postgresql: object };
    const command = `${this.#script} demo ${name}`;
    const settings = {
      callbacks: { on_role_change: command, on_stop: command },
      before_stop: `${command} before_stop`,
    };
    const postgresql = { ...configuration.postgresql, ...settings };
    writeFileSync(file, JSON.stringify({ ...configuration, postgresql }, null, 2));
  }

  /** The same for a node that runs. @throws Error if it does not reload its configuration */
  async reconfigure(node: PatroniNode): Promise<void> {
    this.configure(node);
    const { status, body } = await node.ask("/reload", { method: "POST" });
    if (status !== 202 && status !== 200)
      throw new Error(`Cannot send hints from ${node.name}: it answers ${status} ${body} to /reload`);
  }
}
