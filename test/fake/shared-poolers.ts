/** What two rolecalls with the same poolers share: two fake PgBouncers, and the token of each for the other. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import type { PoolerConfig } from "../../src/core/config/model/config.ts";
import { FakePgbouncer } from "./fake-pgbouncer.ts";
import { poolerOf } from "./pooler-setup.ts";
import { temporaryFolder } from "./temporary-folder.ts";

export interface SharedPoolers {
  /** Removed when the process ends. */
  readonly folder: string;
  readonly tokenFile: string;
  readonly poolers: readonly FakePgbouncer[];
  /** The same as the configuration has them: all databases are of cluster `demo`. */
  readonly configured: readonly PoolerConfig[];
}

export async function sharedPoolers(context: TestContext, name: string): Promise<SharedPoolers> {
  const folder = temporaryFolder(name);
  const tokenFile = join(folder, "token");
  writeFileSync(tokenFile, "secret\n");
  const poolers = [await FakePgbouncer.start(context), await FakePgbouncer.start(context)];
  const configured = poolers.map(({ console: { port } }, at) => {
    const pooler = poolerOf(`pgb${at + 1}`, `127.0.0.1:${port}`);
    return { ...pooler, databases: pooler.databases.map((database) => ({ ...database, cluster: "demo" })) };
  });
  return { folder, tokenFile, poolers, configured };
}
