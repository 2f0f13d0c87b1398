/** Envoys of a whole process: listeners, access, reloads and what is told of them. */
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, suite, test, type TestContext } from "node:test";
import { credentials, type ChannelCredentials } from "@grpc/grpc-js";
import { loadConfig } from "../../../src/app/registry/config.ts";
import type { App } from "../../../src/app/app.ts";
import type { Config } from "../../../src/core/config/model/config.ts";
import { CertificateAuthority } from "../../fake/certificates.ts";
import { openFakeCluster } from "../../fake/fake-node.ts";
import { freePort } from "../../fake/free-port.ts";
import { sendRequest } from "../../fake/http-request.ts";
import { temporaryFolder } from "../../fake/temporary-folder.ts";
import { until } from "../../fake/until.ts";
import { assignmentsIn, assignmentType, listedIn, type WireResponse, XdsClientStream } from "../../fake/xds-client.ts";
import { appOf, limit } from "../../app/app-fixture.ts";

const authority = new CertificateAuthority();
const stranger = new CertificateAuthority("stranger");
const certificate = authority.issue("listener");
const client = authority.issue("envoy");
const foreign = stranger.issue("foreign");
after(() => {
  authority.remove();
  stranger.remove();
});

interface Fixture {
  readonly app: App;
  readonly port: number;
  readonly config: (more: string, pools?: string) => Config;
  readonly connect: (access?: ChannelCredentials, port?: number) => XdsClientStream;
  readonly edges: () => Promise<{
    readonly balancers: readonly { readonly balancer: string; readonly kind: string }[];
  }>;
}

/** @param more further keys of the listener */
async function start(context: TestContext, more = ""): Promise<Fixture> {
  const nodes = await openFakeCluster(context, ["pg1", "pg2"]);
  const port = await freePort();
  const adminPort = await freePort();
  const file = join(temporaryFolder("envoys"), "rolecall.yaml");
  const rows = nodes.map(
    ({ name, api }) => `{ name: ${name}, api: "${api}", database: "10.0.0.${name.slice(2)}:5432" }`,
  );
  const config = (keys: string, pools = "{ name: reads, check: /replica }"): Config => {
    writeFileSync(
      file,
      `
clusters: [{ name: demo, nodes: [${rows.join()}] }]
probe: { interval: 100ms, cluster_interval: 100ms }
pools: [{ name: writes, check: /primary }, ${pools}]
listen: [{ port: ${adminPort}, dialect: admin }, { port: ${port}, dialect: xds${keys} }]
log: { level: silent }
`,
    );
    const loaded = loadConfig({ file, env: {}, flags: {} });
    assert.ok(loaded.ok, JSON.stringify(loaded));
    return loaded.config;
  };
  const app = appOf(context, config(more));
  await app.start();
  const connect: Fixture["connect"] = (access = credentials.createInsecure()) => {
    const stream = new XdsClientStream(`127.0.0.1:${port}`, "ads delta", access);
    context.after(() => stream.close());
    return stream;
  };
  const edges: Fixture["edges"] = async () =>
    JSON.parse((await sendRequest(`http://127.0.0.1:${adminPort}/edges`)).body) as Awaited<
      ReturnType<Fixture["edges"]>
    >;
  return { app, port, config, connect, edges };
}

function subscribe(stream: XdsClientStream, names: readonly string[]): void {
  stream.send({ node: { id: "edge-1" }, type_url: assignmentType, resource_names_subscribe: names });
}

function listed(response: WireResponse): Readonly<Record<string, readonly string[]>> {
  return Object.fromEntries(assignmentsIn(response).map((one) => [one.cluster_name, listedIn(one)]));
}

suite("Envoys of a process", limit, () => {
  test("get the pools of a listener, those that a reload adds too, and are told of", async (context) => {
    const { app, config, connect, edges } = await start(context);
    const stream = connect();
    subscribe(stream, ["writes", "reads", "more"]);
    assert.deepEqual(listed(await stream.next()), { writes: ["+pg1", "-pg2"], reads: ["+pg2"] });
    const { balancers } = await edges();
    assert.deepEqual(
      balancers.map(({ balancer, kind }) => [balancer, kind]),
      [["edge-1", "envoy"]],
    );
    await app.apply(config("", "{ name: reads, check: /replica }, { name: more, check: /read-only }"));
    assert.deepEqual(listed(await stream.next()), { more: ["+pg1", "+pg2"] });
    assert.equal(stream.ended, null);
    await app.apply({ ...config(""), listen: config("").listen.filter(({ dialect }) => dialect === "admin") });
    await until("the end of the stream", () => stream.ended ?? undefined);
    assert.deepEqual((await edges()).balancers, []);
  });

  test("a listener with TLS serves Envoys with a certificate of its authority alone", async (context) => {
    const keys = `, tls: { cert: "${certificate.cert}", key: "${certificate.key}", ca: "${authority.ca}", client: required }`;
    const { connect } = await start(context, keys);
    const ca = readFileSync(authority.ca);
    const withKey = ({ cert, key }: typeof client): ChannelCredentials =>
      credentials.createSsl(ca, readFileSync(key), readFileSync(cert));
    const stream = connect(withKey(client));
    subscribe(stream, ["reads"]);
    assert.deepEqual(listed(await stream.next()), { reads: ["+pg2"] });
    for (const access of [withKey(foreign), credentials.createSsl(ca), credentials.createInsecure()]) {
      const refused = connect(access);
      subscribe(refused, ["reads"]);
      await until("the end of the stream", () => refused.ended ?? undefined);
      assert.deepEqual(refused.responses, []);
    }
  });

  test("a listener with an allow list serves no others", async (context) => {
    const { connect } = await start(context, ", allow: [10.0.0.0/8]");
    const stream = connect();
    subscribe(stream, ["reads"]);
    await until("the end of the stream", () => stream.ended ?? undefined);
    assert.deepEqual(stream.responses, []);
  });

  test("a listener with a limit of connections closes those above it", async (context) => {
    const { connect } = await start(context, ", limits: { connections: 1 }");
    const stream = connect();
    subscribe(stream, ["reads"]);
    await stream.next();
    const second = connect();
    subscribe(second, ["reads"]);
    await until("the end of the stream", () => second.ended ?? undefined);
    assert.equal(stream.ended, null);
  });
});
