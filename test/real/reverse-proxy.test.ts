/** The live page behind nginx, with the lines of docs/page.md. */
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { appOf, portFor } from "../app/app-fixture.ts";
import { clusterOf, configOf, listenerOf } from "../fake/config.ts";
import { unrestrictedAccess } from "../../src/core/config/model/listener-access-config.ts";
import { startSimulator } from "../../src/tools/simulator/simulator.ts";
import { freePort } from "../fake/free-port.ts";
import { until } from "../fake/until.ts";
import { Child } from "./lab/child.ts";

const nginx = "/usr/sbin/nginx";
const skip = existsSync(nginx) ? false : "not run: package nginx is not installed";

test(
  "nginx serves the page and its stream with the lines of docs/page.md",
  { skip, timeout: 60_000 },
  async (context) => {
    const simulator = await startSimulator({ nodes: 3, port: 0 });
    context.after(() => simulator.stop());
    const admin = listenerOf({ dialect: "admin", access: unrestrictedAccess });
    const clusters = [clusterOf({ name: "demo", scope: "demo", discover: simulator.nodes.map(({ url }) => url) })];
    const app = appOf(context, configOf({ clusters, listen: [admin] }));
    await app.start();
    const folder = mkdtempSync(join(tmpdir(), "rolecall-nginx-"));
    context.after(() => rmSync(folder, { recursive: true }));
    const port = await freePort();
    const file = join(folder, "nginx.conf");
    writeFileSync(file, configuration({ folder, port, admin: portFor(app, admin) }));
    const command = [nginx, "-p", folder, "-c", file, "-e", "stderr"] as const;
    const child = new Child({ name: "nginx", command, folder });
    context.after(() => child.stop("SIGTERM", 5));
    const url = `http://127.0.0.1:${port}/rolecall`;
    const get = (path: string, accept = "*/*"): Promise<Response> => fetch(`${url}${path}`, { headers: { accept } });
    await until({ what: "nginx", evidence: () => child.tail }, () =>
      get("/livez").then(
        ({ status }) => status === 200,
        () => false,
      ),
    );
    const page = await get("/", "text/html");
    assert.match(page.headers.get("content-type") ?? "", /^text\/html/);
    assert.match(page.headers.get("content-security-policy") ?? "", /default-src 'self'/);
    // Every address in the page is relative, so a prefix changes none of them.
    const addresses = [...(await page.text()).matchAll(/ (?:src|href)="([^"]+)"/g)].map(([, address = ""]) => address);
    assert.ok(addresses.length > 0);
    for (const address of addresses) assert.equal((await fetch(new URL(address, `${url}/`))).status, 200, address);
    const stream = await get("/events/stream");
    const first = await stream.body?.getReader().read();
    assert.match(new TextDecoder().decode(first?.value as Uint8Array | undefined), /^(id|event|data|retry|:)/);
  },
);

function configuration(of: { readonly folder: string; readonly port: number; readonly admin: number }): string {
  const location = /^```nginx\n([\s\S]*?)\n```$/m.exec(readFileSync(join("docs", "page.md"), "utf8"))?.[1] ?? "";
  assert.match(location, /127\.0\.0\.1:9108/);
  return [
    `daemon off; pid ${of.folder}/pid; error_log stderr;`,
    "events {}",
    "http { access_log off;",
    ...["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((use) => `${use}_temp_path ${of.folder}/${use};`),
    `server { listen 127.0.0.1:${of.port};`,
    location.replace("127.0.0.1:9108", `127.0.0.1:${of.admin}`),
    "} }",
  ].join("\n");
}
