import assert from "node:assert/strict";
import { test } from "node:test";
import { RolecallProcess } from "../../fake/rolecall-process.ts";

test("serve says what to do about an address that is not of this machine", { timeout: 60_000 }, async (context) => {
  const argv = ["serve", "--discover", "http://127.0.0.1:1", "--listen", "203.0.113.1:8008"];
  const times = ["--set", "probe.connect_timeout=100ms", "--set", "probe.timeout=300ms", "--set", "workers=0"];
  const running = new RolecallProcess(context, [...argv, ...times]);
  assert.equal(await running.exit, 2);
  assert.match(
    running.stderr,
    /EADDRNOTAVAIL[^\n]*\n {2}Choose an address of this machine \(ip addr lists them\), or 0\.0\.0\.0 for all\.\n/,
  );
});
