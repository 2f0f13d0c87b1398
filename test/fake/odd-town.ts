import { nodeOf } from "./config.ts";
import { serveOddNode, type OddNode, type OddNodeOptions } from "./odd-node.ts";
import { buildTownOf, type Town, type TownOptions } from "./town.ts";

export type OddTown = Omit<Town, "simulator">;

/** A leader pg1 and a replica pg2 that take management calls as told. */
export async function withOddTown(
  { behave, ...options }: Omit<TownOptions, "simulator"> & Pick<OddNodeOptions, "behave">,
  play: (town: OddTown, nodes: { readonly pg1: OddNode; readonly pg2: OddNode }) => Promise<void>,
): Promise<void> {
  const shared = behave === undefined ? {} : { behave };
  const pg1 = await serveOddNode({ name: "pg1", holdsLock: true, ...shared });
  const pg2 = await serveOddNode({ name: "pg2", holdsLock: false, ...shared });
  const town = await buildTownOf(
    [pg1, pg2].map(({ name, api }) => nodeOf({ name, api })),
    options,
  );
  try {
    await play(town, { pg1, pg2 });
  } finally {
    await town.close();
    await Promise.all([pg1.close(), pg2.close()]);
  }
}
