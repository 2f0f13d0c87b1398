import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { runText } from "../../fake/command-line.ts";

const folder = mkdtempSync(join(tmpdir(), "rolecall-units-"));
after(() => rmSync(folder, { recursive: true }));
const skip =
  spawnSync("systemd-analyze", ["--version"]).error === undefined ? false : "not run: systemd is not installed";

/** Runs `render systemd` for listeners and returns the socket unit. */
async function socketUnit(listen: readonly object[]): Promise<string> {
  const file = join(folder, "rolecall.yaml");
  const clusters = [{ name: "demo", nodes: [{ name: "pg1", api: "http://127.0.0.1:1" }] }];
  writeFileSync(file, JSON.stringify({ clusters, listen })); // JSON is YAML
  const units = join(folder, "units");
  const { code, err } = await runText(["render", "systemd", "--config", file, "--directory", units]);
  assert.equal(code, 0, err);
  return readFileSync(join(units, "rolecall.socket"), "utf8");
}

describe("render systemd", () => {
  test("has one socket for each listener, in the order of the configuration", async () => {
    const text = await socketUnit([
      { port: 8008 },
      { address: "::1", port: 9108, dialect: "admin" },
      { address: "0.0.0.0", port: 8009 },
    ]);
    const sockets = [...text.matchAll(/^ListenStream=(.*)$/gm)].map(([, address]) => address);
    assert.deepEqual(sockets, ["127.0.0.1:8008", "[::1]:9108", "0.0.0.0:8009"]);
    assert.doesNotMatch(text, /BindIPv6Only/);
  });

  test("a listener on :: accepts IPv4 too, as without systemd", async () => {
    assert.match(
      await socketUnit([{ address: "::", port: 8008 }]),
      /^ListenStream=\[::\]:8008$[^]*^BindIPv6Only=both$/m,
    );
  });

  test("the zone of an address is no specifier of systemd", async () => {
    assert.match(await socketUnit([{ address: "fe80::1%eth0", port: 8008 }]), /^ListenStream=\[fe80::1%%eth0\]:8008$/m);
  });

  test("without --directory prints every file below its path", async () => {
    const { code, out } = await runText(["render", "systemd"]);
    assert.equal(code, 0);
    assert.deepEqual(
      [...out.matchAll(/^# (\/etc\/.*)$/gm)].map(([, path]) => path),
      [
        "/etc/systemd/system/rolecall.socket",
        "/etc/systemd/system/rolecall.service",
        "/etc/sysusers.d/rolecall.conf",
        "/etc/tmpfiles.d/rolecall.conf",
      ],
    );
  });

  test("uses the program, the user and an absolute configuration file", async () => {
    const args = ["--program", "/opt/rolecall/bin/rolecall", "--user", "edge"];
    const { out } = await runText(["render", "systemd", ...args]);
    assert.match(out, /^ExecStart=\/opt\/rolecall\/bin\/rolecall serve --config \/etc\/rolecall\/rolecall\.yaml$/m);
    assert.match(out, /^User=edge$/m);
    assert.match(out, /^u edge - /m);
    assert.match(await socketUnit([{ port: 8008 }]), new RegExp(`of ${join(folder, "rolecall.yaml")}, in`));
  });

  for (const [args, message] of [
    [["--program", "rolecall"], "--program must be an absolute path"],
    [["--program", "/opt/role call"], "--program must be an absolute path"],
    [["--program", "/opt/%n"], "--program must be an absolute path"],
    [["--user", "Root User"], "--user must be the name of a system user"],
  ] as const)
    test(`${args.join(" ")} is refused`, async () => {
      const { code, out, err } = await runText(["render", "systemd", ...args]);
      assert.deepEqual([code, out], [2, ""]);
      assert.ok(err.includes(message), err);
    });

  test("a listener with port 0 is refused, as it has no socket", async () => {
    await assert.rejects(socketUnit([{ port: 0 }]), /the port of its listener must not be 0/);
  });

  test("a directory that cannot be written is an error of its own", async () => {
    const { code, err } = await runText(["render", "systemd", "--directory", "/dev/null/units"]);
    assert.equal(code, 2);
    assert.match(err, /error RC150 {2}Cannot write to \/dev\/null\/units/);
  });

  test("systemd accepts the units without a warning", { skip }, () => {
    for (const unit of ["rolecall.socket", "rolecall.service"])
      writeFileSync(
        join(folder, unit),
        // systemd-analyze requires the executable.
        readFileSync(join("deploy/systemd", unit), "utf8").replace("/usr/bin/rolecall", "/usr/bin/env"),
      );
    const args = ["verify", "--man=no", join(folder, "rolecall.socket"), join(folder, "rolecall.service")];
    const { status, stdout, stderr } = spawnSync("systemd-analyze", args, { encoding: "utf8" });
    assert.deepEqual([status, stdout, stderr], [0, "", ""]);
  });

  test("systemd-analyze security rates the service at most 2.0", { skip }, () => {
    const args = ["security", "--offline=true", "--threshold=20", "--no-pager", "deploy/systemd/rolecall.service"];
    const { status, stdout, stderr } = spawnSync("systemd-analyze", args, { encoding: "utf8" });
    assert.equal(status, 0, stdout + stderr);
    assert.match(stdout, /Overall exposure level for rolecall\.service: [01]\.\d OK|: 2\.0 OK/);
  });

  test("systemd creates the user and the directories", { skip }, () => {
    const root = mkdtempSync(join(folder, "root-"));
    mkdirSync(join(root, "etc"));
    for (const [program, file] of [
      ["systemd-sysusers", "rolecall.sysusers.conf"],
      ["systemd-tmpfiles", "rolecall.tmpfiles.conf"],
    ] as const) {
      const action = program === "systemd-tmpfiles" ? ["--create"] : [];
      const args = [...action, `--root=${root}`, join(process.cwd(), "deploy/systemd", file)];
      const { status, stderr } = spawnSync(program, args, { encoding: "utf8" });
      // Only root may give directories to the new user.
      assert.ok(status === 0 || process.getuid?.() !== 0, stderr);
    }
    assert.match(readFileSync(join(root, "etc/passwd"), "utf8"), /^rolecall:/m);
  });
});
