import { errorMessage } from "../../core/cluster/values/error-message.ts";
import { listOf, objectOf, type JsonObject } from "../../core/cluster/values/json.ts";
import { isObject } from "../../core/cluster/values/json.ts";
import { diagnoseLeaderKeys } from "../../core/command/doctor/diagnose-leader-key.ts";
import type { DoctorContext } from "../../core/command/doctor/doctor-context.ts";
import { countText } from "../../core/health/wording.ts";
import { readApiAccess } from "./api/api-access.ts";
import { ApiClient, type ApiReply, refusalText } from "./api/api-client.ts";
import type { PublishedServiceConfig } from "./config/kubernetes-schema.ts";
import { leaderRights, type NeededRight, neededRights, podRights, rightsText } from "./core/needed-rights.ts";
import { parsePodSeed } from "./config/pod-seed.ts";
import { kubernetesSourceOf } from "./dcs/leader-source.ts";
import { readSlices, serviceLabel } from "./core/slice-objects.ts";
import { knownService, otherClaim } from "./slices/service-object.ts";

/** How many Services are asked for at a time. */
const atATime = 8;

/**
 * Asks the API server whether it can be used (RC180), whether rolecall may do what it needs to (RC181), whether each
 * Service can be published (RC182), and whether nothing else claims it (RC183).
 */
export async function diagnoseKubernetes(context: DoctorContext): Promise<void> {
  const { config } = context;
  const place = config.kubernetes ?? { kubeconfig: null, context: null };
  const client = new ApiClient({ readAccess: () => readApiAccess(place, process.env), now: () => performance.now() });
  try {
    await diagnoseServices(context, client);
    await diagnoseLeaderKeys(
      context,
      (cluster, dcs) => kubernetesSourceOf(cluster, dcs, () => client),
      "kubernetes-dcs",
    );
  } finally {
    client.close();
  }
}

async function diagnoseServices({ command: { result }, config }: DoctorContext, client: ApiClient): Promise<void> {
  const { services = [] } = config.kubernetes ?? {};
  const watched = config.clusters.flatMap(({ dcs }) => dcs?.kubernetes ?? []);
  const seeds = config.clusters.flatMap(({ discover }) => discover.flatMap((address) => parsePodSeed(address) ?? []));
  if (services.length === 0 && watched.length === 0 && seeds.length === 0) return;
  const diagnosis = new Diagnosis(client, (rule, message) => result.diagnose(rule, { message }));
  try {
    const rights = new Map<string, NeededRight[]>();
    const need = (namespace: string, needed: readonly NeededRight[]): void =>
      void rights.set(namespace, distinct([...(rights.get(namespace) ?? []), ...needed]));
    for (const { service } of services) need(service.namespace, neededRights);
    for (const { namespace, object } of watched) need(namespace ?? client.namespace, leaderRights(object));
    for (const { namespace } of seeds) need(namespace, podRights);
    for (const [namespace, needed] of rights) await diagnosis.rights(namespace, needed);
    for (let at = 0; at < services.length; at += atATime)
      await Promise.all(services.slice(at, at + atATime).map((one) => diagnosis.service(one)));
  } catch (error) {
    // Without an answer there is nothing to say of the rest.
    result.diagnose("RC180", { message: errorMessage(error) });
  }
  result.cover("kubernetes", diagnosis.known === services.length ? "complete" : "incomplete", {
    detail: `${diagnosis.known} of ${countText(services.length, "Service")}: known`,
  });
}

/** Rights, each once. */
function distinct(rights: readonly NeededRight[]): NeededRight[] {
  return [...new Map(rights.map((right) => [JSON.stringify(right), right])).values()];
}

class Diagnosis {
  /** How many Services were read. */
  known: number = 0;
  /** The namespaces where rights are missing, which are named already. */
  readonly #forbidden = new Set<string>();
  readonly #client: ApiClient;
  readonly #tell: (rule: "RC181" | "RC182" | "RC183", message: string) => void;

  constructor(client: ApiClient, tell: (rule: "RC181" | "RC182" | "RC183", message: string) => void) {
    this.#client = client;
    this.#tell = tell;
  }

  /** @throws Error if the API server does not answer */
  async rights(namespace: string, needed: readonly NeededRight[]): Promise<void> {
    const missing: NeededRight[] = [];
    for (const right of needed) {
      const reply = await this.#client.call({
        method: "POST",
        path: "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
        body: {
          apiVersion: "authorization.k8s.io/v1",
          kind: "SelfSubjectAccessReview",
          spec: { resourceAttributes: { namespace, ...right } },
        },
      });
      if (objectOf(bodyOf(reply)["status"])["allowed"] !== true) missing.push(right);
    }
    if (missing.length === 0) return;
    this.#forbidden.add(namespace);
    this.#tell("RC181", `rolecall needs in ${namespace}: ${rightsText(missing)}`);
  }

  /** @throws Error if the API server does not answer */
  async service({ service: { namespace, name }, port }: PublishedServiceConfig): Promise<void> {
    const named = new URLSearchParams({ fieldSelector: `metadata.name=${name}`, limit: "1" });
    const services = await this.#list(namespace, `/api/v1/namespaces/${namespace}/services?${named.toString()}`);
    const labelled = new URLSearchParams({ labelSelector: `${serviceLabel}=${name}`, limit: "500" });
    const group = `/apis/discovery.k8s.io/v1/namespaces/${namespace}`;
    const slices = await this.#list(namespace, `${group}/endpointslices?${labelled.toString()}`);
    if (services === null || slices === null) return;
    this.known += 1;
    const [object = null] = listOf(services["items"]).filter(isObject);
    const known = knownService({ namespace, name, port, isOfPrimary: false }, object);
    if (known.kind === "unusable") this.#tell("RC182", known.problem);
    const claim = otherClaim(known, readSlices(listOf(slices["items"]).filter(isObject), { name, uid: null }));
    if (claim !== null) this.#tell("RC183", claim);
  }

  /** @returns `null` where the right for it is missing, which was said. @throws Error as {@link bodyOf} */
  async #list(namespace: string, path: string): Promise<JsonObject | null> {
    const reply = await this.#client.call({ method: "GET", path });
    if (reply.kind === "answered" && reply.status === 403 && this.#forbidden.has(namespace)) return null;
    return bodyOf(reply);
  }
}

/** @throws Error if there is no answer, or a refusal */
function bodyOf(reply: ApiReply): JsonObject {
  if (reply.kind === "failed") throw new Error(`the API server of Kubernetes: ${reply.failure.detail}`);
  if (reply.status >= 300) throw new Error(`the API server of Kubernetes: ${refusalText(reply)}`);
  return reply.body;
}
