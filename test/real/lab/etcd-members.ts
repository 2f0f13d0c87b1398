/** An etcd of its own for a test: some members on loopback, with TLS and users where wanted, and no Patroni. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ask } from "./ask.ts";
import { makeCertificates, type Certificates } from "./certificates.ts";
import { Child, giveToPostgres } from "./child.ts";
import { freeze } from "./freeze.ts";
import { ports, requireFree } from "./ports.ts";
import { removeAtExit } from "./reaper.ts";
import { until } from "../../fake/until.ts";

export interface EtcdOptions {
  readonly count: number;
  /** Whether clients connect over TLS. */
  readonly isOverTls?: boolean;
  /** How long a token without use is valid, in s. */
  readonly tokenTtlS?: number;
}

/** The user that may do everything, once authentication is on. */
const root = { name: "root", password: "root-password" };
/** The user of rolecall. */
export const reader = { user: "rolecall", password: "reader-password" };
const folderOfKeys = "/service/demo/";
const leaderKey = `${folderOfKeys}leader`;

/** The answer to a write. */
interface Written {
  readonly header: { readonly revision: string };
}

export class EtcdMembers {
  readonly folder = mkdtempSync(join(tmpdir(), "rolecall-etcd-"));
  readonly tls: Certificates | null;
  readonly #options: EtcdOptions;
  readonly #children: Child[] = [];
  #hasAuth = false;

  /** Starts the members and waits (20 s) until all are healthy. */
  static async start(options: EtcdOptions): Promise<EtcdMembers> {
    const etcd = new EtcdMembers(options);
    await requireFree(etcd.#ports.flatMap((port) => [port, port + 1]));
    giveToPostgres(etcd.folder);
    for (const at of etcd.#ports.keys()) etcd.#start(at);
    for (const at of etcd.#ports.keys()) await etcd.#healthy(at);
    return etcd;
  }

  private constructor(options: EtcdOptions) {
    this.#options = options;
    removeAtExit(this.folder);
    this.tls = options.isOverTls === true ? makeCertificates(this.folder) : null;
  }

  /** The addresses for clients. */
  get urls(): readonly string[] {
    return this.#ports.map((port) => `${this.tls === null ? "http" : "https"}://127.0.0.1:${port}`);
  }

  /** SIGSTOP. What it returns thaws the member. */
  freeze(at: number): () => void {
    return freeze(this.#children[at]?.pid ?? 0);
  }

  /** SIGKILL. */
  async kill(at: number): Promise<void> {
    await this.#children[at]?.stop("SIGKILL");
  }

  /** Starts a member again, on its old data, and waits (20 s) until it is healthy. */
  async again(at: number): Promise<void> {
    this.#start(at);
    await this.#healthy(at);
  }

  async stop(): Promise<void> {
    await Promise.all(this.#children.map((child) => child.stop("SIGKILL")));
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Turns authentication on: the reader may read the keys of the scope, and no more. */
  async requireUsers(): Promise<void> {
    for (const { name, password } of [root, { name: reader.user, password: reader.password }])
      await this.call("/v3/auth/user/add", { name, password });
    for (const name of ["root", "reading"]) await this.call("/v3/auth/role/add", { name });
    await this.allowReading();
    await this.call("/v3/auth/user/grant", { user: root.name, role: "root" });
    await this.call("/v3/auth/user/grant", { user: reader.user, role: "reading" });
    await this.call("/v3/auth/enable", {});
    this.#hasAuth = true;
  }

  /** Lets the reader read the keys of the scope. */
  async allowReading(): Promise<void> {
    await this.call("/v3/auth/role/grant", { name: "reading", perm: { permType: "READ", ...scopeRange } });
  }

  /** Takes that right away. */
  async forbidReading(): Promise<void> {
    await this.call("/v3/auth/role/revoke", { role: "reading", ...scopeRange });
  }

  /** Writes the leader key; `null` deletes it. @returns the revision of the change */
  async lead(leader: string | null, lease?: string): Promise<number> {
    const value = { value: encode(leader ?? ""), ...(lease === undefined ? {} : { lease }) };
    const [path, more] = leader === null ? ["/v3/kv/deleterange", {}] : ["/v3/kv/put", value];
    const { header } = (await this.call(path, { key: encode(leaderKey), ...more })) as Written;
    return Number(header.revision);
  }

  /** Sends a call to the first member that answers it. @throws Error if none does within 20 s */
  call(path: string, body: object): Promise<unknown> {
    let problem = "";
    const wait = { what: `an answer to ${path}`, evidence: (): string => `${problem}\n${this.#tails}` };
    return until(wait, async () => {
      for (const port of this.#ports) {
        const token = this.#hasAuth ? await this.#token(port) : null;
        if (token === undefined) continue;
        const reply = await this.#ask(port, path, { body, token });
        if (reply.status === 200) return JSON.parse(reply.body) as object;
        problem = `${reply.status} ${reply.body}`;
      }
      return undefined;
    });
  }

  async #token(port: number): Promise<string | undefined> {
    const { status, body } = await this.#ask(port, "/v3/auth/authenticate", { body: root, token: null });
    return status === 200 ? (JSON.parse(body) as { readonly token: string }).token : undefined;
  }

  #ask(port: number, path: string, { body, token }: { body?: object; token: string | null }): ReturnType<typeof ask> {
    const trust = this.tls === null ? {} : { ca: this.tls.authority };
    const headers = token === null ? {} : { Authorization: token };
    return ask({
      port,
      path,
      ...(body === undefined ? {} : { method: "POST", body }),
      headers,
      deadlineMs: 500,
      ...trust,
    });
  }

  async #healthy(at: number): Promise<void> {
    const wait = { what: `a healthy member ${at + 1}`, evidence: () => this.#tails };
    await until(wait, async () => (await this.#ask(this.#ports[at] ?? 0, "/health", { token: null })).status === 200);
  }

  get #ports(): readonly number[] {
    return Array.from({ length: this.#options.count }, (_, at) => ports.etcdPeer + 2 * at + 1);
  }

  #start(at: number): void {
    const names = this.#ports.map((_, index) => `m${index + 1}`);
    const peer = (index: number): string => `http://127.0.0.1:${(this.#ports[index] ?? 0) + 1}`;
    const client = this.urls[at] ?? "";
    const { tokenTtlS = 300 } = this.#options;
    const files = this.tls === null ? [] : ["--cert-file", this.tls.certificateFile, "--key-file", this.tls.keyFile];
    const member = ["--name", names[at] ?? "", "--data-dir", join(this.folder, `data${at + 1}`)];
    const clients = ["--listen-client-urls", client, "--advertise-client-urls", client, ...files];
    const all = names.map((name, index) => `${name}=${peer(index)}`).join(",");
    const ownPeer = ["--listen-peer-urls", peer(at), "--initial-advertise-peer-urls", peer(at)];
    const peers = [...ownPeer, "--initial-cluster", all];
    this.#children[at] = new Child({
      name: names[at] ?? "",
      command: ["etcd", ...member, ...clients, ...peers, "--bcrypt-cost", "4", "--auth-token-ttl", String(tokenTtlS)],
      folder: this.folder,
      asPostgres: true,
    });
  }

  get #tails(): string {
    return this.#children.map(({ tail }) => tail).join("\n");
  }
}

function encode(text: string): string {
  return Buffer.from(text).toString("base64");
}

const scopeRange = { key: encode(folderOfKeys), range_end: encode("/service/demo0") };
