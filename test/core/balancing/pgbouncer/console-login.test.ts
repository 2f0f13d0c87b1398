import assert from "node:assert/strict";
import { test } from "node:test";
import { mayLogInClear } from "../../../../src/core/balancing/pgbouncer/console-stream.ts";

/** Where a console is, whether it is reached with TLS, and whether the password itself may go there. */
const rows = [
  [{ folder: "/run/pgbouncer", port: 6432 }, false, true],
  [{ host: "127.0.0.1", port: 6432 }, false, true],
  [{ host: "127.1.2.3", port: 6432 }, false, true],
  [{ host: "::1", port: 6432 }, false, true],
  [{ host: "localhost", port: 6432 }, false, true],
  [{ host: "10.0.0.1", port: 6432 }, false, false],
  [{ host: "pgb_1.db.lab", port: 6432 }, false, false],
  [{ host: "127.0.0.1.db.lab", port: 6432 }, false, false],
  [{ host: "fe80::1%eth0", port: 6432 }, false, false],
  [{ host: "10.0.0.1", port: 6432 }, true, true],
  [{ host: "fe80::1%eth0", port: 6432 }, true, true],
  [{ host: "pgb_1.db.lab", port: 6432 }, true, true],
] as const;

for (const [address, hasTls, may] of rows)
  test(`the password of a console ${may ? "may" : "may not"} go to ${JSON.stringify(address)}${hasTls ? " with TLS" : ""}`, () => {
    assert.equal(mayLogInClear(address, hasTls), may);
  });
