import { connect, createServer, type Socket } from "node:net";
import type { TestContext } from "node:test";
import { type FakeNode, openFakeCluster } from "./fake-node.ts";
import { freePort } from "./free-port.ts";
import { sendRequest } from "./http-request.ts";
import { portOf } from "./listen.ts";
import { writeConfigFile } from "./config-file.ts";
import { RolecallProcess } from "./rolecall-process.ts";
import { until } from "./until.ts";

/** A rolecall process that probes or follows, and its listeners. */
export interface Instance {
  readonly process: RolecallProcess;
  readonly url: string;
  readonly admin: string;
}

export interface InstanceOptions {
  readonly nodes: readonly FakeNode[];
  /** Admin listeners that are followed. */
  readonly follow?: readonly (string | { readonly url: string; readonly token_file?: string; readonly tls?: object })[];
  readonly workers?: number;
  /** More clusters, as YAML: `, { name: … }`. */
  readonly clusters?: string;
  /** More of the admin listener, as YAML: `, auth: {…}`. */
  readonly access?: string;
  readonly adminPort?: number;
  /** Discovers its members from the first node. */
  readonly discovers?: boolean;
  /** Replaces the usual settings of `probe`. */
  readonly probe?: string;
  readonly env?: NodeJS.ProcessEnv;
}

/** Starts a rolecall over fake nodes. */
export async function startInstance(context: TestContext, options: InstanceOptions): Promise<Instance> {
  const { nodes, follow = [], clusters = "", access = "", discovers = false } = options;
  const [port, admin] = [await freePort(), options.adminPort ?? (await freePort())];
  const where = discovers
    ? `discover: [${JSON.stringify(nodes[0]?.api)}]`
    : `nodes: [${nodes.map(({ name, api }) => `{ name: ${name}, api: ${JSON.stringify(api)} }`).join(", ")}]`;
  const file = writeConfigFile(
    context,
    `clusters: [{ name: demo, ${where} }${clusters}]
probe: ${options.probe ?? "{ interval: 200ms, timeout: 300ms, connect_timeout: 100ms, max_age: 2s, cluster_interval: 1s }"}
follow: ${JSON.stringify(follow)}
listen: [{ port: ${port}, whole_cluster: true }, { port: ${admin}, dialect: admin${access} }]
workers: ${options.workers ?? 0}
drain: 0s
`,
  );
  const process = new RolecallProcess(context, ["serve", "--config", file], { env: options.env ?? {} });
  await process.waitForLog("listening");
  return { process, url: `http://127.0.0.1:${port}`, admin: `http://127.0.0.1:${admin}` };
}

/** Fake nodes, an instance that probes them, and one that follows it. */
export async function startPair(
  context: TestContext,
  options: Omit<InstanceOptions, "nodes" | "follow"> = {},
): Promise<{ readonly nodes: readonly FakeNode[]; readonly owner: Instance; readonly edge: Instance }> {
  const nodes = await openFakeCluster(context, ["pg1", "pg2", "pg3"]);
  const owner = await startInstance(context, { nodes, ...options });
  const edge = await startInstance(context, { nodes, ...options, follow: [owner.admin] });
  return { nodes, owner, edge };
}

/** The status and the phrase of an answer. */
export async function answerOf({ url }: Pick<Instance, "url">, path: string): Promise<string> {
  const { status, phrase } = await sendRequest(`${url}${path}`);
  return `${status} ${phrase}`;
}

/** Waits until an instance answers so. */
export async function waitForAnswer(instance: Pick<Instance, "url">, path: string, wanted: RegExp): Promise<void> {
  let last = "";
  await until({ what: `${path} ${wanted}`, evidence: () => last }, async () => {
    last = await answerOf(instance, path);
    return wanted.test(last);
  });
}

/** A way to a node that only one process takes, and that can be cut. */
export interface Detour {
  /** The environment of the process that takes it. */
  readonly env: NodeJS.ProcessEnv;
  /** From now on nothing passes, and nothing is refused: as if a network were cut. */
  cut(): void;
}

/** Opens a detour to a node. */
export async function openDetour(context: TestContext, { port }: FakeNode): Promise<Detour> {
  let isCut = false;
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    if (isCut) return;
    const onward = connect(port, "127.0.0.1");
    onward.on("error", () => {});
    socket.pipe(onward).pipe(socket);
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  context.after(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  const script = new URL("../../../test/fake/detour.cjs", import.meta.url).pathname;
  return {
    env: { NODE_OPTIONS: `--require ${script}`, DETOUR: `${port}:${portOf(server)}` },
    cut: () => {
      isCut = true;
      for (const socket of sockets) socket.unpipe();
    },
  };
}
