/**
 * A real API server of Kubernetes with an etcd of its own. Nothing runs pods or keeps Services: what is in it, a test has
 * written. The program is named by KUBE_APISERVER (CONTRIBUTING.md).
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent, request } from "undici";
import { objectOf, readObjects } from "../../fake/deployed-objects.ts";
import { kubeconfigText } from "../../fake/kubeconfig.ts";
import { until } from "../../fake/until.ts";
import { Child } from "./child.ts";
import { EtcdMembers } from "./etcd-members.ts";
import { ports, requireFree } from "./ports.ts";
import { removeAtExit } from "./reaper.ts";

const { KUBE_APISERVER: program = "" } = process.env;

/** Why no API server can be started; `null`: one can. */
export const noKubeApi: string | null =
  program === ""
    ? "KUBE_APISERVER names no kube-apiserver"
    : existsSync(program)
      ? null
      : `KUBE_APISERVER: there is no ${program}`;

/** The tokens of two users: one that may do everything, and one that may do what a test grants. */
export const kubeTokens = { admin: "admin-token", rolecall: "rolecall-token" } as const;

/** An answer of the API server. */
export interface KubeAnswer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** What a call is sent with. */
export interface KubeCall {
  readonly token?: string;
  readonly body?: object;
  readonly type?: string;
}

export class KubeApi {
  readonly folder: string = mkdtempSync(join(tmpdir(), "rolecall-kube-"));
  readonly #etcd: EtcdMembers;
  #child: Child;
  readonly #agent = new Agent({ connect: { rejectUnauthorized: false } });

  /** Starts both, waits (60 s) until the API server is ready, and creates the namespace `databases`. */
  static async start(): Promise<KubeApi> {
    await requireFree([ports.kubeApi]);
    const kube = new KubeApi(await EtcdMembers.start({ count: 1 }));
    await kube.ready();
    await kube.done("POST", "/api/v1/namespaces", { body: { metadata: { name: "databases" } } });
    return kube;
  }

  private constructor(etcd: EtcdMembers) {
    this.#etcd = etcd;
    removeAtExit(this.folder);
    const openssl = (...args: string[]): void =>
      void execFileSync("openssl", args, { cwd: this.folder, stdio: "ignore" });
    openssl("genrsa", "-out", "sa.key", "2048");
    openssl("rsa", "-in", "sa.key", "-pubout", "-out", "sa.pub");
    writeFileSync(
      join(this.folder, "tokens.csv"),
      `${kubeTokens.admin},admin,1,"system:masters"\n${kubeTokens.rolecall},rolecall,2,""\n`,
    );
    this.#child = this.#started();
  }

  get url(): string {
    return `https://127.0.0.1:${ports.kubeApi}`;
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** Writes a kubeconfig. @returns the name of the file */
  kubeconfig(token: string): string {
    const file = join(this.folder, `${token}.kubeconfig`);
    writeFileSync(file, kubeconfigText({ server: this.url, token, isTrusted: true }), { mode: 0o600 });
    return file;
  }

  /** Sends a call. @throws Error if there is no answer within 10 s */
  async call(
    method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE",
    path: string,
    call: KubeCall = {},
  ): Promise<KubeAnswer> {
    const { token = kubeTokens.admin, body, type = "application/json" } = call;
    const answer = await request(`${this.url}${path}`, {
      method,
      dispatcher: this.#agent,
      headers: { authorization: `Bearer ${token}`, accept: "application/json", "content-type": type },
      body: body === undefined ? null : JSON.stringify(body),
      signal: AbortSignal.timeout(10_000),
    });
    const text = await answer.body.text();
    // An object, as the API has it; a watch has one for each line.
    const [first = ""] = text.split("\n{");
    // A path that it does not know is answered with a text.
    const said = first.startsWith("{") ? (JSON.parse(first) as KubeAnswer["body"]) : { message: text };
    return { status: answer.statusCode, body: said };
  }

  /** Sends a call that must succeed. */
  async done(...call: Parameters<KubeApi["call"]>): Promise<KubeAnswer["body"]> {
    const { status, body } = await this.call(...call);
    if (status >= 300) throw new Error(`${call[0]} ${call[1]}: status ${status}: ${JSON.stringify(body)}`);
    return body;
  }

  /** SIGKILL. */
  async kill(): Promise<void> {
    await this.#child.stop("SIGKILL");
  }

  /** Starts it again, on its old data, and waits (60 s) until it is ready. */
  async again(): Promise<void> {
    this.#child = this.#started();
    await this.ready();
  }

  async ready(): Promise<void> {
    await until({ what: "the API server", seconds: 60, evidence: () => this.#child.tail }, async () => {
      const answer = await request(`${this.url}/readyz`, {
        dispatcher: this.#agent,
        headers: { authorization: `Bearer ${kubeTokens.admin}` },
        signal: AbortSignal.timeout(1_000),
      }).catch(() => null);
      return (await answer?.body.text().catch(() => "")) === "ok";
    });
  }

  async stop(): Promise<void> {
    await this.#child.stop("SIGKILL");
    await this.#etcd.stop();
    await this.#agent.destroy();
    rmSync(this.folder, { recursive: true, force: true });
  }

  #started(): Child {
    return new Child({
      name: "kube-apiserver",
      folder: this.folder,
      command: [
        program,
        `--etcd-servers=${this.#etcd.urls.join()}`,
        `--secure-port=${ports.kubeApi}`,
        "--bind-address=127.0.0.1",
        `--cert-dir=${join(this.folder, "certificates")}`,
        "--service-account-key-file=sa.pub",
        "--service-account-signing-key-file=sa.key",
        "--service-account-issuer=https://kubernetes.default.svc",
        "--service-cluster-ip-range=10.96.0.0/16",
        "--authorization-mode=RBAC",
        "--token-auth-file=tokens.csv",
        "--disable-admission-plugins=ServiceAccount",
      ],
    });
  }
}

/** Grants the user of rolecall exactly the Role of the manifests in `databases`. @param more further rules */
export async function grantRole(kube: KubeApi, more: readonly object[] = []): Promise<void> {
  const role = objectOf(readObjects(readFileSync("deploy/kubernetes/rolecall.yaml", "utf8")), "Role");
  const path = "/apis/rbac.authorization.k8s.io/v1/namespaces/databases";
  await kube.done("POST", `${path}/roles`, { body: { ...role, rules: [...(role.rules ?? []), ...more] } });
  await kube.done("POST", `${path}/rolebindings`, {
    body: {
      metadata: { name: "rolecall", namespace: "databases" },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "rolecall" },
      subjects: [{ kind: "User", name: "rolecall", apiGroup: "rbac.authorization.k8s.io" }],
    },
  });
}
