/** Writes that have to be replicated. */
import assert from "node:assert/strict";
import { psql } from "./psql.js";
/** Writes some 5 MB of WAL on the node, which has to be the primary. */
export async function writeWal({ databasePort }) {
    assert.equal(await psql(databasePort, "create table if not exists written (filling text)"), "");
    const inserted = await psql(databasePort, "insert into written select repeat(md5(n::text), 30) from generate_series(1, 5000) n");
    assert.equal(inserted, "");
}
//# sourceMappingURL=wal.js.map