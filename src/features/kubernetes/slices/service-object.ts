/** What a Service says of itself, and what else claims it. Pure. */
import { listOf, nameOf, objectOf, type JsonObject } from "../../../core/cluster/values/json.ts";
import { manager, type PublishedSlices, type SlicedService } from "../core/slice-objects.ts";

/** A Service, as the configuration names it. */
export interface PublishedServiceKey {
  readonly namespace: string;
  readonly name: string;
  /** The name of its port that leads to the database; `null`: its only one. */
  readonly port: string | null;
  readonly isOfPrimary: boolean;
}

/** A Service as it is known. */
export type KnownService =
  /** Nothing has been read yet. */
  | { readonly kind: "unread" }
  /** Slices cannot be written for it. */
  | { readonly kind: "unusable"; readonly problem: string }
  | {
      readonly kind: "usable";
      readonly sliced: SlicedService;
      /** The name of its port that leads to the database; `""`: it has none, as a sole one may. */
      readonly portName: string;
      /** Whether it selects pods: then Kubernetes keeps slices of its own for it. */
      readonly hasSelector: boolean;
    };

const nameMax = 253;

/** What is kept of a Service. */
export function slimService(object: JsonObject): JsonObject {
  const { name, uid } = objectOf(object["metadata"]);
  const { ports, selector, type } = objectOf(object["spec"]);
  return { metadata: { name, uid }, spec: { ports, selector, type } };
}

/** Reads a Service. @param object `null`: there is none of this name */
export function knownService({ namespace, name, port }: PublishedServiceKey, object: JsonObject | null): KnownService {
  if (object === null) return unusable(`there is no Service ${name} in ${namespace}`);
  const service = `Service ${name} in ${namespace}`;
  const uid = nameOf(objectOf(object["metadata"])["uid"], nameMax);
  const { ports, selector, type } = objectOf(object["spec"]);
  const named = listOf(ports).map((one) => nameOf(objectOf(one)["name"], nameMax) ?? "");
  const portName = port === null ? (named.length === 1 ? named[0] : undefined) : named.find((one) => one === port);
  if (uid === null) return unusable(`${service} must have a uid, got none`);
  if (type === "ExternalName") return unusable(`${service} must not have the type ExternalName`);
  if (portName === undefined)
    return unusable(
      port === null
        ? `${service} must have one port, or kubernetes.services[].port must name one, got ${named.length} ports`
        : `${service} must have the port ${port}, got ${named.filter((one) => one !== "").join(", ") || "none with a name"}`,
    );
  const hasSelector = Object.keys(objectOf(selector)).length > 0;
  return { kind: "usable", sliced: { namespace, name, uid }, portName, hasSelector };
}

function unusable(problem: string): KnownService {
  return { kind: "unusable", problem };
}

/**
 * What else decides where a Service leads: clients get to the addresses of all slices. `null`: nothing does.
 * @param service how the Service is known
 */
export function otherClaim(service: KnownService, { foreign }: PublishedSlices): string | null {
  if (service.kind !== "usable") return null;
  const { namespace, name } = service.sliced;
  if (service.hasSelector)
    return `Service ${name} in ${namespace} must not have a selector: Kubernetes writes slices for the pods that it selects`;
  const [first] = foreign;
  if (first === undefined) return null;
  const by =
    first.manager === mirroring
      ? `${mirroring} mirrors the Endpoints ${name}`
      : first.manager === manager
        ? `it has the label of rolecall, but the names of its slices begin with ${name}-rolecall-`
        : `${first.manager ?? "somebody"} keeps it`;
  return `EndpointSlice ${first.name} of Service ${name} in ${namespace} is not rolecall's: ${by}`;
}

/** What makes slices of the Endpoints that somebody writes, as Patroni does. */
const mirroring = "endpointslicemirroring-controller.k8s.io";
