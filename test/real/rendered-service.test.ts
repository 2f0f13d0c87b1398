/** The rendered haproxy.cfg in the place of the package's own, started as the package's service starts it. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { Child } from "./lab/child.ts";
import { freePort } from "../fake/free-port.ts";
import { renderClusters } from "../fake/rendered-rows.ts";
import { temporaryFolder } from "../fake/temporary-folder.ts";
import { until } from "../fake/until.ts";

const [unit, own] = ["/usr/lib/systemd/system/haproxy.service", "/etc/haproxy/haproxy.cfg"];
const socket = "/run/haproxy/admin.sock";

/** Why this machine cannot have the service; `false` if it can. */
const skip =
  process.getuid?.() !== 0
    ? "not run: only root may change its user"
    : read(unit) === null || read(own) === null
      ? "not run: package haproxy is not installed"
      : (await command("show pid")) !== "" && "not run: another HAProxy has the socket of the distribution";

test("the global section has every setting of the package's own, but those of TLS", { skip }, async () => {
  const { out } = await renderClusters(temporaryFolder("global"), { kind: "haproxy", clusters: "three", args: [] });
  const expected = globalOf(read(own) ?? "").filter((line) => !/^(?:ca-base|crt-base|ssl-default-)/.test(line));
  const rendered = globalOf(out);
  assert.deepEqual(
    expected.filter((line) => !rendered.includes(line)),
    [],
  );
});

test(
  "the rendered haproxy.cfg runs as the package's service does: as its user, in its chroot, with its socket",
  { skip, timeout: 60_000 },
  async (context) => {
    const folder = temporaryFolder("service");
    const ports = { write: await freePort(), read: await freePort(), check: await freePort() };
    const args = Object.entries(ports).flatMap(([name, port]) => [`--${name}-port`, String(port)]);
    const { out } = await renderClusters(folder, { kind: "haproxy", clusters: "three", args });
    const file = join(folder, "haproxy.cfg");
    writeFileSync(file, out);
    const [, start = ""] = /^ExecStart=(.*)$/m.exec(read(unit) ?? "") ?? [];
    const values: Readonly<Record<string, string>> = {
      $CONFIG: file,
      $PIDFILE: join(folder, "haproxy.pid"),
      $EXTRAOPTS: `-S ${join(folder, "master.sock")}`,
    };
    const [path = "", ...words] = start.replaceAll(/\$\w+/g, (name) => values[name] ?? name).split(" ");
    const haproxy = new Child({ name: "haproxy", command: [path, ...words], folder });
    context.after(() => haproxy.stop("SIGKILL"));
    const info = await until({ what: "HAProxy at its socket", seconds: 20, evidence: () => haproxy.tail }, async () => {
      const answer = await command("show info");
      return answer === "" ? undefined : answer;
    });
    const [, worker = ""] = /^Pid: (\d+)$/m.exec(info) ?? [];
    const status = read(`/proc/${worker}/status`) ?? "";
    const [, user] = /^haproxy:[^:]*:(\d+):/m.exec(read("/etc/passwd") ?? "") ?? [];
    assert.equal(/^Uid:\s+(\d+)/m.exec(status)?.[1], user);
    assert.equal(readlinkSync(`/proc/${worker}/root`), "/var/lib/haproxy");
    assert.ok(readdirSync("/run/haproxy").includes("admin.sock"));
    assert.match(await command("show servers state demo_write"), /demo_write 1 pg1 127\.0\.0\.1 /);
    await haproxy.stop("SIGTERM");
    assert.equal(await command("show pid"), "");
  },
);

function globalOf(configuration: string): readonly string[] {
  const [, section = ""] = /^global\n(.*?)^\S/ms.exec(configuration) ?? [];
  return section
    .split("\n")
    .map((line) => line.trim().replaceAll(/\s+/g, " "))
    .filter((line) => line !== "" && !line.startsWith("#"));
}

function read(file: string): string | null {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return null;
  }
}

/** Sends a command to the socket of the distribution. @returns an empty text if nothing answers there */
function command(line: string): Promise<string> {
  const connection = connect(socket);
  connection.setTimeout(2000, () => connection.destroy(new Error("HAProxy's socket is silent")));
  connection.end(`${line}\n`);
  return text(connection).catch(() => "");
}
