import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, describe, test } from "node:test";
import { loadConfig } from "../../src/app/registry/config.ts";

const units = "deploy/systemd";
const folder = mkdtempSync(join(tmpdir(), "rolecall-units-"));
after(() => rmSync(folder, { recursive: true }));
const skip =
  spawnSync("systemd-analyze", ["--version"]).error === undefined ? false : "not run: systemd is not installed";

function read(name: string): string {
  return readFileSync(join(units, name), "utf8");
}

/** The values of a key of a unit, in order. */
function valuesOf(name: string, key: string): readonly string[] {
  return [...read(name).matchAll(new RegExp(`^${key}=(.*)$`, "gm"))].map(([, value = ""]) => value);
}

/** The lines of a file, as words, without comments. */
function wordsOf(name: string): readonly (readonly string[])[] {
  const lines = read(name).split("\n");
  return lines.filter((line) => !/^(#|$)/.test(line)).map((line) => line.split(/\s+/));
}

describe("deploy/systemd", () => {
  const [start = ""] = valuesOf("rolecall.service", "ExecStart");
  const [program = "", command, option, file = ""] = start.split(" ");
  const [user = ""] = valuesOf("rolecall.service", "User");

  test("has one socket for each listener of the Debian package's configuration, in its order", () => {
    const loaded = loadConfig({ file: "packaging/deb/rolecall.yaml", env: {}, flags: {} });
    assert.ok(loaded.ok);
    assert.deepEqual(
      valuesOf("rolecall.socket", "ListenStream"),
      loaded.config.listen.map(({ address, port }) => `${address}:${port}`),
    );
    const { stateFile } = loaded.config;
    assert.equal(stateFile, `/var/lib/${valuesOf("rolecall.service", "StateDirectory")[0]}/state.json`);
  });

  test("starts the program and reads the configuration where the Debian package installs them", () => {
    assert.deepEqual([command, option], ["serve", "--config"]);
    const installed = readFileSync("packaging/deb.mjs", "utf8");
    for (const path of [program, file]) assert.ok(installed.includes(`"${path.slice(1)}"`), path);
  });

  test("its directories and its user are those that the other files create", () => {
    const directories = wordsOf("rolecall.tmpfiles.conf");
    assert.deepEqual(
      directories.map(([type, path, , owner, group]) => [type, path, owner, group]),
      [
        ["d", dirname(file), "root", user],
        ["d", `/var/lib/${valuesOf("rolecall.service", "StateDirectory")[0]}`, user, user],
      ],
    );
    assert.deepEqual(valuesOf("rolecall.service", "Group"), [user]);
    const [[type, name, , , home] = []] = wordsOf("rolecall.sysusers.conf");
    assert.deepEqual([type, name, home], ["u", user, directories[1]?.[1]]);
  });

  test("docs/install.md installs each file, with the path of the executable in the place of this one", () => {
    const page = readFileSync("docs/install.md", "utf8");
    for (const name of readdirSync(units)) {
      // rolecall.sysusers.conf becomes sysusers.d/rolecall.conf.
      const path = name.endsWith(".conf") ? name.replace(/^(\w+)\.(\w+)/, "$2.d/$1") : `systemd/system/${name}`;
      assert.ok(page.includes(`\ninstall -D -m 644 systemd/${name} /etc/${path}\n`), name);
    }
    assert.ok(page.includes(`"s|${program}|$(command -v rolecall)|" systemd/rolecall.service\n`));
    assert.equal(read("rolecall.service").split(program).length, 2, "once");
  });

  test("systemd accepts the units without a warning", { skip }, () => {
    for (const unit of ["rolecall.socket", "rolecall.service"])
      // systemd-analyze requires the executable.
      writeFileSync(join(folder, unit), read(unit).replace("/usr/bin/rolecall", "/usr/bin/env"));
    const args = ["verify", "--man=no", join(folder, "rolecall.socket"), join(folder, "rolecall.service")];
    const { status, stdout, stderr } = spawnSync("systemd-analyze", args, { encoding: "utf8" });
    assert.deepEqual([status, stdout, stderr], [0, "", ""]);
  });

  test("systemd accepts other sockets, as the comments of the unit say", { skip }, () => {
    const others = ["[::]:8008", "[::1]:9108", "0.0.0.0:8009", "[fe80::1]:8010%%lo"];
    const lines = others.map((address) => `ListenStream=${address}\n`).join("");
    const other = join(mkdtempSync(join(folder, "others-")), "rolecall.socket");
    writeFileSync(other, read("rolecall.socket").replace(/(^ListenStream=.*\n)+/m, lines));
    writeFileSync(join(dirname(other), "rolecall.service"), read("rolecall.service").replace(program, "/usr/bin/env"));
    const { status, stdout, stderr } = spawnSync("systemd-analyze", ["verify", "--man=no", other], { encoding: "utf8" });
    assert.deepEqual([status, stdout, stderr], [0, "", ""]);
  });

  test("systemd-analyze security rates the service at most 2.0", { skip }, () => {
    const args = ["security", "--offline=true", "--threshold=20", "--no-pager", join(units, "rolecall.service")];
    const { status, stdout, stderr } = spawnSync("systemd-analyze", args, { encoding: "utf8" });
    assert.equal(status, 0, stdout + stderr);
    assert.match(stdout, /Overall exposure level for rolecall\.service: [01]\.\d OK|: 2\.0 OK/);
  });

  test("systemd creates the user and the directories", { skip }, () => {
    const root = mkdtempSync(join(folder, "root-"));
    mkdirSync(join(root, "etc"));
    for (const [tool, name] of [
      ["systemd-sysusers", "rolecall.sysusers.conf"],
      ["systemd-tmpfiles", "rolecall.tmpfiles.conf"],
    ] as const) {
      const action = tool === "systemd-tmpfiles" ? ["--create"] : [];
      const args = [...action, `--root=${root}`, join(process.cwd(), units, name)];
      const { status, stderr } = spawnSync(tool, args, { encoding: "utf8" });
      // Only root may give directories to the new user.
      assert.ok(status === 0 || process.getuid?.() !== 0, stderr);
    }
    assert.match(readFileSync(join(root, "etc/passwd"), "utf8"), /^rolecall:/m);
  });
});
