/** The example of docs/page.md that protects an admin listener, served by the program. */
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { request, type RequestOptions } from "node:https";
import { join } from "node:path";
import { test } from "node:test";
import { CertificateAuthority } from "../fake/certificates.ts";
import { freePort } from "../fake/free-port.ts";
import { RolecallProcess } from "../fake/rolecall-process.ts";
import { readMarkdown } from "./markdown.ts";

/** The password whose hash the page shows, and the token of the test. */
const [password, token] = ["change me", "token-of-the-test"];

/** Sends a request. Returns the status of its answer. */
function statusOf(options: RequestOptions, body = ""): Promise<number | undefined> {
  return new Promise((resolve, fail) => {
    const call = request({ host: "127.0.0.1", agent: false, ...options }, (response) => {
      response.resume().once("end", () => resolve(response.statusCode));
    });
    call.once("error", fail).end(body);
  });
}

test(
  "docs/page.md: the protected admin listener asks everybody for a credential",
  { timeout: 60_000 },
  async (context) => {
    const authority = new CertificateAuthority();
    context.after(() => authority.remove());
    const { cert, key } = authority.issue("edge");
    const [health, port] = [await freePort(), await freePort()];
    const [block] = readMarkdown("docs/page.md").blocks.filter(({ language }) => language === "yaml");
    const listeners = (block?.lines.join("\n") ?? assert.fail("docs/page.md has no YAML"))
      .replace("port: 8008", `port: ${health}`)
      .replace("port: 9108", `port: ${port}`)
      .replace("/etc/rolecall/tls.crt", cert)
      .replace("/etc/rolecall/tls.key", key)
      .replace("/etc/rolecall/prometheus.token", join(authority.folder, "token"));
    writeFileSync(join(authority.folder, "token"), `${token}\n`);
    const file = join(authority.folder, "rolecall.yaml");
    writeFileSync(
      file,
      `clusters: [{ name: demo, discover: ["http://127.0.0.1:${await freePort()}"] }]\n${listeners}\n`,
    );
    await new RolecallProcess(context, ["serve", "--config", file]).waitForLog("listening", 2);

    const base = { port, path: "/", ca: readFileSync(authority.ca) };
    const html = { accept: "text/html" };
    const ann = { authorization: `Basic ${Buffer.from(`ann:${password}`).toString("base64")}` };
    const wrong = { authorization: `Basic ${Buffer.from("ann:guess").toString("base64")}` };
    const prometheus = { authorization: `Bearer ${token}` };
    assert.equal(await statusOf({ ...base, headers: html }), 401);
    assert.equal(await statusOf({ ...base, headers: { ...html, ...wrong } }), 401);
    assert.equal(await statusOf({ ...base, headers: { ...html, ...ann } }), 200);
    assert.equal(await statusOf({ ...base, path: "/metrics" }), 401);
    assert.equal(await statusOf({ ...base, path: "/metrics", headers: prometheus }), 200);
    const drain = { ...base, path: "/drains/demo/pg1", method: "POST" };
    assert.equal(await statusOf({ ...drain, headers: { "content-type": "application/json" } }, '{"for":"1min"}'), 401);
  },
);
