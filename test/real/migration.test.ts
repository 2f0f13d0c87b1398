/**
 * config/examples/haproxy-migration.cfg in a real HAProxy: in the step of the veto rolecall can refuse a server, and an
 * outage of rolecall changes nothing.
 */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { freePort } from "../fake/free-port.ts";
import { migrationStep } from "../fake/migration-step.ts";
import { until } from "../fake/until.ts";
import { Haproxy } from "./lab/haproxy.ts";
import { missingProgram } from "./lab/versions.ts";

const missing = missingProgram();

/** A server that answers by its paths; it counts them. */
class Answers {
  readonly requests: string[] = [];
  readonly #server: Server;
  status: (path: string) => number;

  constructor(status: (path: string) => number) {
    this.status = status;
    this.#server = createServer(({ url = "" }, response) => {
      this.requests.push(url);
      response.writeHead(this.status(url), { "X-Rolecall-Node": "pg1" }).end();
    });
  }

  listen(context: TestContext, host: string, port: number): Promise<void> {
    context.after(() => this.close());
    return new Promise((resolve) => this.#server.listen(port, host, resolve));
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

test(
  "a veto refuses, and an outage of rolecall does not",
  { skip: missing === undefined ? false : `not run: ${missing} is missing`, timeout: 60_000 },
  async (context) => {
    const folder = mkdtempSync(join(tmpdir(), "rolecall-migration-"));
    context.after(() => rmSync(folder, { recursive: true }));
    const [apis, inner, statistics, instances, writes, reads] = await Promise.all(
      Array.from({ length: 6 }, () => freePort()),
    );
    assert.ok(apis !== undefined && instances !== undefined);
    const isPrimary = (path: string): boolean => path.startsWith("/primary");
    const nodes = [1, 2, 3].map((at) => new Answers((path) => (isPrimary(path) === (at === 1) ? 200 : 503)));
    for (const [at, node] of nodes.entries()) await node.listen(context, `127.0.0.${at + 11}`, apis);

    const configuration = migrationStep({ write: "write_veto", read: "read_veto" })
      .replaceAll("10.0.0.11:8008", `127.0.0.21:${instances}`)
      .replaceAll("10.0.0.12:8008", `127.0.0.22:${instances}`)
      .replaceAll(/10\.0\.0\.(\d):/g, "127.0.0.1$1:")
      .replaceAll("8008", String(apis))
      .replaceAll("8007", String(inner))
      .replace("127.0.0.1:8404", `127.0.0.1:${statistics}`)
      .replace("127.0.0.1:5000", `127.0.0.1:${writes}`)
      .replace("127.0.0.1:5001", `127.0.0.1:${reads}`)
      .replaceAll("inter 1s", "inter 100ms");
    const haproxy = await Haproxy.run(folder, (socket) => configuration.replace("/run/haproxy/admin.sock", socket));
    context.after(() => haproxy.stop());
    const up = async (pool: string): Promise<string> => {
      const servers = await haproxy.servers();
      return servers.flatMap((one) => (one.pool === pool && one.status.startsWith("UP") ? [one.node] : [])).join();
    };
    const shows = (write: string, read: string): Promise<true> =>
      until({ what: `${write}; ${read}`, seconds: 15, evidence: () => haproxy.tail }, async () =>
        (await up("write_veto")) === write && (await up("read_veto")) === read ? true : undefined,
      );
    /** Waits for more checks of a node than make a server down or up. */
    const checked = async (): Promise<void> => {
      const before = nodes[0]?.requests.length ?? 0;
      await until("further checks", () => (nodes[0]?.requests.length ?? 0) > before + 40);
    };

    await shows("pg1", "pg2,pg3");
    await checked();
    await shows("pg1", "pg2,pg3");

    const rolecall = new Answers((path) => (path === "/readyz" || !path.includes("/pg2/replica") ? 200 : 503));
    await rolecall.listen(context, "127.0.0.21", instances);
    await shows("pg1", "pg3");
    assert.ok(rolecall.requests.some((path) => path.endsWith("/pg2/replica?lag=10MB")));
    rolecall.status = (path) => (path === "/readyz" || !path.includes("/pg1/primary") ? 200 : 503);
    await until("no server for writes", async () => (await up("write_veto")) === "");
    rolecall.status = () => 200;
    await shows("pg1", "pg2,pg3");
    rolecall.close();
    await checked();
    assert.deepEqual([await up("write_veto"), await up("read_veto")], ["pg1", "pg2,pg3"]);
  },
);
