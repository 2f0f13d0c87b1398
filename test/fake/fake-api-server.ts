/**
 * An API server of Kubernetes over http, as far as rolecall uses it: lists in pages, watches, applies and creates. It
 * refuses in the words that a real one was recorded with (test/spec/kubernetes/answers.json).
 */
import { readFileSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { objectOf, type JsonObject } from "../../src/core/cluster/values/json.ts";
import { kubeconfigText } from "./kubeconfig.ts";
import { listenDuringTest } from "./listen.ts";
import { temporaryFolder } from "./temporary-folder.ts";

interface Answer {
  readonly status: number;
  readonly body: JsonObject;
}

type Recorded =
  | "exists"
  | "conflict"
  | "deleted"
  | "invalid"
  | "noNamespace"
  | "notFound"
  | "unauthorized"
  | "forbiddenList"
  | "forbiddenPatch"
  | "forbiddenCreate"
  | "forbiddenWatch"
  | "watchError";

const recorded = JSON.parse(readFileSync("test/spec/kubernetes/answers.json", "utf8")) as Readonly<
  Record<Recorded, Answer>
>;

/** A call that the server has received. */
export interface KubeCallReceived {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly verb: "list" | "watch" | "get" | "create" | "patch" | "delete";
  /** `endpointslices` */
  readonly resource: string;
  /** The name of the object; `""`: of none. */
  readonly name: string;
  readonly token: string;
}

/** How the server behaves badly to a call. */
export type Misbehaviour =
  | {
      readonly kind: "answer";
      readonly status: number;
      readonly body: string;
      readonly headers?: Record<string, string>;
    }
  /** Never answers. */
  | { readonly kind: "hang" }
  /** Does what it is asked for, so much later, in ms. */
  | { readonly kind: "slow"; readonly ms: number }
  /** Cuts the connection. */
  | { readonly kind: "reset" };

interface Stored {
  readonly object: JsonObject;
  /** What was created, as long as nothing is applied over it. */
  readonly created: JsonObject;
}

interface Change {
  readonly version: number;
  readonly path: string;
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly object: JsonObject;
  /** As it was; `null`: there was none. */
  readonly before: JsonObject | null;
}

interface Watcher {
  readonly path: string;
  readonly query: URLSearchParams;
  readonly response: ServerResponse;
}

export class FakeApiServer {
  /** Decides how the server misbehaves to a call; `null`: it does not. */
  misbehave: (call: KubeCallReceived) => Misbehaviour | null = () => null;
  /** What the user may not do, as `patch endpointslices`. */
  readonly denied: Set<string> = new Set();
  token: string = "good";
  readonly calls: KubeCallReceived[] = [];
  readonly #objects = new Map<string, Map<string, Stored>>();
  readonly #changes: Change[] = [];
  #compactedAt = 0;
  readonly #watchers = new Set<Watcher>();
  #version = 100;
  readonly #folder = temporaryFolder("kubernetes");
  #port = 0;

  /** Listens until the test is over. */
  static async open(context: TestContext): Promise<FakeApiServer> {
    const fake = new FakeApiServer();
    const server = createServer((request, response) => void fake.#serve(request, response));
    fake.#port = await listenDuringTest(context, server);
    return fake;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Writes a kubeconfig with the token. @returns the name of the file */
  kubeconfig(token: string = this.token): string {
    const file = join(this.#folder, "kubeconfig");
    writeFileSync(file, kubeconfigText({ server: this.url, token }), { mode: 0o600 });
    return file;
  }

  /** How many watches are open. */
  get watches(): number {
    return this.#watchers.size;
  }

  /** The objects at a path of a namespace, as `endpointslices`. */
  objects(resource: string, namespace: string = "databases"): readonly JsonObject[] {
    return [...this.#at(pathOf(resource, namespace)).values()].map(({ object }) => object);
  }

  /** Puts an object, whoever has written it. */
  put(resource: string, object: object, namespace: string = "databases"): JsonObject {
    const path = pathOf(resource, namespace);
    return this.#store(path, nameOfObject(object), objectOf(object), objectOf(object));
  }

  delete(resource: string, name: string, namespace: string = "databases"): void {
    const path = pathOf(resource, namespace);
    const known = this.#at(path).get(name);
    if (known === undefined) return;
    this.#at(path).delete(name);
    const object = withVersion(known.object, (this.#version += 1));
    this.#changed({ path, type: "DELETED", object, before: known.object });
  }

  /** Forgets all changes up to now: a watch from before gets 410. */
  compact(): void {
    this.#compactedAt = this.#version;
    this.#changes.length = 0;
  }

  /** Sends a line to each watch of a kind of objects. */
  say(resource: string, line: string): void {
    for (const { path, response } of this.#watchers) if (path.endsWith(`/${resource}`)) response.write(line);
  }

  /** Tells each watch how far it has come. */
  bookmark(resource: string): void {
    const object = {
      kind: "EndpointSlice",
      metadata: { resourceVersion: String(this.#version), creationTimestamp: null },
    };
    this.say(resource, `${JSON.stringify({ type: "BOOKMARK", object })}\n`);
  }

  /** Cuts all watches, as a server that is killed. */
  cutWatches(): void {
    for (const { response } of this.#watchers) response.destroy();
    this.#watchers.clear();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams: query } = new URL(request.url ?? "", this.url);
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const [, folder = "", resource = "", name = ""] =
      /^(\/(?:api\/v1|apis\/[^/]+\/[^/]+)\/namespaces\/[^/]+\/([a-z]+))(?:\/([^/]+))?$/.exec(pathname) ?? [];
    const { method = "" } = request;
    const verb =
      method === "GET"
        ? query.get("watch") === "true"
          ? "watch"
          : name === ""
            ? "list"
            : "get"
        : ({ POST: "create", PATCH: "patch", DELETE: "delete" } as const)[method as "POST"];
    const token = (request.headers.authorization ?? "").replace("Bearer ", "");
    const call: KubeCallReceived = { method, path: pathname, query, verb, resource, name, token };
    this.calls.push(call);
    const bad = this.misbehave(call);
    if (bad?.kind === "hang") return;
    if (bad?.kind === "slow") await new Promise((resolve) => void setTimeout(resolve, bad.ms));
    if (bad?.kind === "reset") return void response.destroy();
    if (bad?.kind === "answer") {
      response.writeHead(bad.status, { "Content-Type": "application/json", ...bad.headers });
      return void response.end(bad.body);
    }
    if (token !== this.token) return send(response, recorded.unauthorized);
    if (pathname === "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews")
      return send(response, this.#review(chunks));
    if (this.denied.has(`${verb} ${resource}`)) return send(response, this.#forbidden(call));
    if (verb === "watch") return this.#watch({ path: folder, query, response });
    if (verb === "list") return send(response, this.#list(folder, query));
    const body = objectOf(chunks.length === 0 ? {} : JSON.parse(Buffer.concat(chunks).toString()));
    send(response, this.#write(call, folder, body));
  }

  #write({ verb, name, query }: KubeCallReceived, folder: string, body: JsonObject): Answer {
    const { generateName } = objectOf(body["metadata"]);
    const generated = typeof generateName === "string" ? `${generateName}${this.#version}` : null;
    const named = name === "" ? (generated ?? nameOfObject(body)) : name;
    const known = this.#at(folder).get(named);
    if (verb === "get")
      return known === undefined ? refusal("notFound", "none", named) : { status: 200, body: known.object };
    if (JSON.stringify(body).includes('"127.0.0.1"')) return refusal("invalid", "one", named);
    if (verb === "create") {
      if (known !== undefined) return refusal("exists", "one", named);
      return { status: 201, body: this.#store(folder, named, body, body) };
    }
    const { uid, resourceVersion } = objectOf(body["metadata"]);
    if (known === undefined && uid !== undefined) return refusal("deleted", "gone", named);
    const its = objectOf(known?.object["metadata"]);
    if (known !== undefined && uid !== undefined && uid !== its["uid"]) return refusal("conflict", "one", named);
    if (known !== undefined && resourceVersion !== undefined && resourceVersion !== its["resourceVersion"])
      return refusal("conflict", "one", named);
    if (query.get("fieldManager") === null) return refusal("invalid", "one", named);
    return { status: known === undefined ? 201 : 200, body: this.#store(folder, named, body, known?.created ?? {}) };
  }

  /** Stores what is applied, over what was created: that states its labels and annotations still. */
  #store(path: string, name: string, object: JsonObject, created: JsonObject): JsonObject {
    const known = this.#at(path).get(name);
    const metadata = objectOf(object["metadata"]);
    const [labels, annotations] = ["labels", "annotations"].map((key) => ({
      ...objectOf(objectOf(created["metadata"])[key]),
      ...objectOf(metadata[key]),
    }));
    const before = objectOf(known?.object["metadata"]);
    const next = {
      ...object,
      metadata: {
        ...metadata,
        name,
        labels,
        annotations,
        uid: before["uid"] ?? uidOf(this.#version),
        resourceVersion: before["resourceVersion"],
      },
    };
    // A write that changes nothing is none.
    if (known !== undefined && JSON.stringify(next) === JSON.stringify(known.object)) return known.object;
    const stored = withVersion(next, (this.#version += 1));
    this.#at(path).set(name, { object: stored, created });
    const type = known === undefined ? "ADDED" : "MODIFIED";
    this.#changed({ path, type, object: stored, before: known?.object ?? null });
    return stored;
  }

  #list(path: string, query: URLSearchParams): Answer {
    const all = [...this.#at(path).values()].map(({ object }) => object).filter((object) => isSelected(object, query));
    const from = Number(query.get("continue") ?? "0");
    const limit = Number(query.get("limit") ?? "0") || all.length;
    const left = all.length - from - limit;
    const metadata = {
      resourceVersion: String(this.#version),
      ...(left > 0 ? { continue: String(from + limit), remainingItemCount: left } : {}),
    };
    return { status: 200, body: { kind: "List", apiVersion: "v1", metadata, items: all.slice(from, from + limit) } };
  }

  #watch(watcher: Watcher): void {
    const { path, query, response } = watcher;
    const from = Number(query.get("resourceVersion") ?? "0");
    response.writeHead(200, { "Content-Type": "application/json" });
    response.flushHeaders();
    if (from < this.#compactedAt) {
      const object = {
        ...objectOf(recorded.watchError.body["object"]),
        reason: "Expired",
        code: 410,
        message: `too old resource version: ${from} (${this.#compactedAt})`,
      };
      return void response.end(`${JSON.stringify({ type: "ERROR", object })}\n`);
    }
    this.#watchers.add(watcher);
    response.on("close", () => this.#watchers.delete(watcher));
    for (const change of this.#changes) if (change.path === path && change.version > from) tell(watcher, change);
  }

  #changed(change: Omit<Change, "version">): void {
    const whole = { ...change, version: this.#version };
    this.#changes.push(whole);
    for (const watcher of this.#watchers) if (watcher.path === change.path) tell(watcher, whole);
  }

  /** Whether a right is given: everybody may ask that of itself. */
  #review(chunks: readonly Buffer[]): Answer {
    const { spec } = objectOf(JSON.parse(Buffer.concat(chunks).toString()));
    const { verb, resource } = objectOf(objectOf(spec)["resourceAttributes"]);
    return { status: 201, body: { status: { allowed: !this.denied.has([verb, resource].join(" ")) } } };
  }

  #forbidden({ verb, resource }: KubeCallReceived): Answer {
    const kind = {
      list: "forbiddenList",
      get: "forbiddenList",
      watch: "forbiddenWatch",
      create: "forbiddenCreate",
      patch: "forbiddenPatch",
      delete: "forbiddenPatch",
    } as const;
    const { status, body } = recorded[kind[verb]];
    const group = groupOf(resource);
    const text = JSON.stringify(body)
      .replaceAll("endpointslices.discovery.k8s.io", `${resource}${group === "" ? "" : `.${group}`}`)
      .replaceAll("discovery.k8s.io", group)
      .replaceAll("endpointslices", resource);
    return { status, body: objectOf(JSON.parse(verb === "get" ? text.replace("cannot list", "cannot get") : text)) };
  }

  #at(path: string): Map<string, Stored> {
    const known = this.#objects.get(path) ?? new Map<string, Stored>();
    this.#objects.set(path, known);
    return known;
  }
}

function pathOf(resource: string, namespace: string): string {
  const group = groupOf(resource);
  return `${group === "" ? "/api/v1" : `/apis/${group}/v1`}/namespaces/${namespace}/${resource}`;
}

function groupOf(resource: string): string {
  return { endpointslices: "discovery.k8s.io", leases: "coordination.k8s.io" }[resource] ?? "";
}

/** Who selects an object no more by its labels is told that it is gone, who does so now, that it has come. */
function tell({ query, response }: Watcher, { type, object, before }: Change): void {
  const [is, was] = [object, before].map((one) => one !== null && isSelected(one, query));
  if (is !== true && was !== true) return;
  const told = type === "DELETED" || is !== true ? "DELETED" : was === true ? "MODIFIED" : "ADDED";
  response.write(`${JSON.stringify({ type: told, object })}\n`);
}

/** Whether an object has the name of `fieldSelector`, and the labels of `labelSelector`: `a=b`, `a in (b,c)`, or `a`. */
function isSelected(object: JsonObject, query: URLSearchParams): boolean {
  const field = query.get("fieldSelector");
  if (field !== null && field !== `metadata.name=${nameOfObject(object)}`) return false;
  const selector = query.get("labelSelector");
  if (selector === null) return true;
  const labels = objectOf(objectOf(object["metadata"])["labels"]);
  const [, key = "", list, value] = /^([^ =]+)(?: in \(([^)]*)\)|=(.*))?$/.exec(selector) ?? [];
  const its = labels[key];
  if (list !== undefined) return list.split(",").some((one) => one === its);
  return value === undefined ? its !== undefined : its === value;
}

function refusal(which: Recorded, recordedName: string, name: string): Answer {
  const { status, body } = recorded[which];
  return { status, body: objectOf(JSON.parse(JSON.stringify(body).replaceAll(`"${recordedName}`, `"${name}`))) };
}

function nameOfObject(object: object): string {
  return String(objectOf(objectOf(object)["metadata"])["name"]);
}

function withVersion(object: JsonObject, version: number): JsonObject {
  return { ...object, metadata: { ...objectOf(object["metadata"]), resourceVersion: String(version) } };
}

function uidOf(version: number): string {
  return `00000000-0000-4000-8000-${String(version).padStart(12, "0")}`;
}

function send(response: ServerResponse, { status, body }: Answer): void {
  response.writeHead(status, { "Content-Type": "application/json" });
  response.end(JSON.stringify(body));
}
