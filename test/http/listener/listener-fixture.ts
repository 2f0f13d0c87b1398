import type { ListenerAccess } from "../../../src/config/model/listener-access-config.ts";
import type { Asking } from "../../fake/ask.ts";
import { nodeOf } from "../../fake/config.ts";
import { serveOddNode, type OddNode } from "../../fake/odd-node.ts";
import { buildTownOf, type Town } from "../../fake/town.ts";

/** Runs `play` with a rolecall whose health listener has these access rules, and with its one node. */
export async function withListener(
  access: Partial<ListenerAccess>,
  play: (town: Omit<Town, "simulator">, node: OddNode) => Promise<void>,
): Promise<void> {
  const pg1 = await serveOddNode({ name: "pg1", holdsLock: true });
  const town = await buildTownOf([nodeOf(pg1)], { door: access });
  try {
    await play(town, pg1);
  } finally {
    await town.close();
    await pg1.close();
  }
}

export const restart = (request: Asking = {}): Asking => ({ method: "POST", ...request });
