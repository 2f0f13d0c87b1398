/**
 * Management calls to a real cluster through rolecall, with authentication on both sides: the nodes require a client
 * certificate and a password for every call that changes something, and the listener requires the same of
 * its callers.
 */
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { hashOf } from "../../src/cli/commands/hash-password.ts";
import { sendRequest as askOpenly, type HttpAnswer } from "../fake/http-request.ts";
import { CertificateAuthority } from "../fake/certificates.ts";
import { beside } from "./lab/beside.ts";
import { giveToPostgres } from "./lab/child.ts";
import { Cluster } from "./lab/cluster.ts";
import { Rolecall } from "./lab/rolecall.ts";
import { until } from "../fake/until.ts";

const nodePassword = "node's: secret";
const callerPassword = "caller's: secret";

for (const version of ["3.0.2", "4.1"] as const) {
  beside(version, "management through the gateway, over mutual TLS with passwords on both sides", (command) => {
    let authority: CertificateAuthority;
    let cluster: Cluster;
    let rolecall: Rolecall;
    let tls: { readonly ca: Buffer; readonly cert: Buffer; readonly key: Buffer };

    before(async () => {
      authority = new CertificateAuthority();
      const [edge, caller, listener] = ["edge", "caller", "listener"].map((name) => authority.issue(name));
      assert.ok(edge !== undefined && caller !== undefined && listener !== undefined);
      giveToPostgres(authority.folder);
      cluster = await Cluster.start(command, true, {
        restapi: {
          verify_client: "optional",
          cafile: authority.ca,
          authentication: { username: "admin", password: nodePassword },
        },
        ctl: { certfile: edge.cert, keyfile: edge.key, authentication: { username: "admin", password: nodePassword } },
      });
      const passwordFile = join(cluster.folder, "node-password");
      writeFileSync(passwordFile, `${nodePassword}\n`, { mode: 0o600 });
      rolecall = await Rolecall.start(cluster, {
        cluster: {
          tls: { ca: cluster.tls?.authorityFile, ...edge },
          auth: { user: "admin", password_file: passwordFile },
        },
        listener: {
          management: "on",
          tls: { ...listener, ca: authority.ca, client: "required" },
          auth: { for: "unsafe", basic: [{ user: "ann", scrypt: hashOf(callerPassword) }] },
        },
      });
      tls = { ca: readFileSync(authority.ca), cert: readFileSync(caller.cert), key: readFileSync(caller.key) };
    });
    after(async () => {
      await rolecall?.stop();
      await cluster?.stop();
      authority?.remove();
    });

    const call = (line: string, body?: unknown, password = callerPassword): Promise<HttpAnswer> => {
      const [method = "", path = ""] = line.split(" ");
      const authorization = `Basic ${Buffer.from(`ann:${password}`).toString("base64")}`;
      return askOpenly(`https://127.0.0.1:${rolecall.port}${path}`, {
        method,
        headers: { authorization },
        tls,
        ...(body === undefined ? {} : { body }),
      });
    };
    const shows = (path: string, pattern: RegExp): Promise<true> =>
      until({ what: `${path} with ${pattern}`, seconds: 40, evidence: () => rolecall.tail }, async () =>
        pattern.test((await call(`GET ${path}`)).body) ? true : undefined,
      );
    const settle = async (): Promise<{ readonly leader: string; readonly replica: string }> => {
      await cluster.whole();
      const leader = (await cluster.leader()).name;
      const replica = cluster.nodes.find(({ name }) => name !== leader)?.name ?? "";
      await until({ what: `rolecall's yes to ${leader}`, seconds: 20, evidence: () => rolecall.tail }, async () =>
        (await call(`GET /nodes/${leader}/primary`)).status === 200 &&
        (await call(`GET /nodes/${replica}/replica`)).status === 200
          ? true
          : undefined,
      );
      return { leader, replica };
    };

    test("rejects a call without the credentials of rolecall or of the node", async () => {
      await settle();
      const [node] = cluster.nodes;
      const bare = await node.ask("/reload", { method: "POST" });
      assert.ok(bare.status === 401 || bare.status === 403, `the node itself answers ${bare.status}`);
      const uncertified = await askOpenly(`https://127.0.0.1:${rolecall.port}/livez`, { tls: { ca: tls.ca } });
      assert.equal(uncertified.status, 400);
      assert.match(uncertified.body, /no_client_certificate/);
      assert.equal((await call("POST /nodes/pg1/reload", undefined, "guess")).status, 401);
    });

    test("PATCH /config merges and removes keys with null; PUT replaces", async () => {
      const { body: original } = await call("GET /clusters/demo/config");
      const patched = await call("PATCH /clusters/demo/config", { loop_wait: 3, maximum_lag_on_failover: null });
      assert.equal(patched.status, 200, patched.body);
      const config = JSON.parse(patched.body) as Record<string, unknown>;
      assert.equal(config["loop_wait"], 3);
      assert.equal(config["maximum_lag_on_failover"], undefined);
      assert.match(String(patched.headers["x-rolecall-snapshot"]), /^\w+\.\d+$/);
      await shows("/clusters/demo/config", /"loop_wait": ?3/);
      const put = await call("PUT /clusters/demo/config", JSON.parse(original));
      assert.equal(put.status, 200, put.body);
      assert.deepEqual(JSON.parse(put.body), JSON.parse(original));
    });

    test("performs an immediate switchover and refuses the same call a second time", async () => {
      const { leader, replica } = await settle();
      const done = await call("POST /clusters/demo/switchover", { leader, candidate: replica });
      assert.equal(done.status, 200, done.body);
      assert.match(done.body, new RegExp(`Successfully switched over to "${replica}"`));
      await shows(`/nodes/${replica}/primary`, /"fit":true/);
      const again = await call("POST /clusters/demo/switchover", { leader, candidate: replica });
      assert.equal(again.status, 412, again.body);
      assert.equal(again.headers["x-rolecall-reason"], "leader_mismatch");
    });

    test("schedules, shows and deletes a switchover", async () => {
      const { leader } = await settle();
      const at = new Date(Date.now() + 3_600_000).toISOString();
      const scheduled = await call("POST /clusters/demo/switchover", { leader, scheduled_at: at });
      assert.equal(scheduled.status, 202, scheduled.body);
      await shows("/clusters/demo/cluster", /"scheduled_switchover"/);
      assert.equal((await call("DELETE /clusters/demo/switchover")).status, 200);
      assert.equal((await call("DELETE /clusters/demo/switchover")).status, 404);
    });

    test("performs a failover to a candidate", async () => {
      const { replica } = await settle();
      const done = await call("POST /clusters/demo/failover", { candidate: replica });
      assert.equal(done.status, 200, done.body);
      await shows(`/nodes/${replica}/primary`, /"fit":true/);
    });

    test("restarts now and later, reloads, reinitializes a replica and refuses to reinitialize the leader", async () => {
      const { leader, replica } = await settle();
      assert.equal((await call(`POST /nodes/${replica}/restart`, {})).status, 200);
      const { leader: still } = await settle();
      assert.equal(still, leader);
      const schedule = new Date(Date.now() + 3_600_000).toISOString();
      assert.equal((await call(`POST /nodes/${replica}/restart`, { schedule })).status, 202);
      assert.equal((await call(`DELETE /nodes/${replica}/restart`)).status, 200);
      assert.equal((await call(`POST /nodes/${replica}/reload`)).status, 202);
      const refused = await call(`POST /nodes/${leader}/reinitialize`, {});
      assert.equal(refused.status, 503);
      assert.equal(refused.headers["x-rolecall-reason"], "is_leader");
      const begun = await call(`POST /nodes/${replica}/reinitialize`, { force: true, "from-leader": true });
      assert.equal(begun.status, 200, begun.body);
      await settle();
    });
  });
}
