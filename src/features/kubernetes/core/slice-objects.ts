/** EndpointSlices as the API server has them (discovery.k8s.io/v1), written and read. Pure. */
import { countOf, isObject, listOf, nameOf, objectOf, type JsonObject } from "../../../core/cluster/values/json.ts";
import type { PublishedService } from "./authority.ts";
import type {
  AddressFamily,
  PodAt,
  ServiceContent,
  ServiceEndpoint,
  SliceContent,
  Unready,
} from "./service-content.ts";

/** Who applies the slices, to the API server: field manager, and value of the label `managed-by`. */
export const manager = "rolecall";

export const serviceLabel = "kubernetes.io/service-name";
export const managerLabel = "endpointslice.kubernetes.io/managed-by";
const writerAnnotation = "rolecall/writer";
const unreadyAnnotation = "rolecall/unready";
const nameMax = 253;

/** The Service that slices belong to, as far as they state it. */
export interface SlicedService {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** The name of its port that leads to the database; `""`: the port has none, as a sole one may. */
  readonly portName: string;
}

/** A slice of rolecall's own that the API server has. */
export interface OwnSlice extends SliceContent {
  readonly name: string;
  readonly resourceVersion: string;
  readonly portName: string;
  readonly writer: string | null;
  readonly unready: Unready;
}

/** What the API server has of a Service. */
export interface PublishedSlices {
  readonly own: readonly OwnSlice[];
  /** The names of slices that somebody else keeps for the Service, with their managers. */
  readonly foreign: readonly { readonly name: string; readonly manager: string | null }[];
}

/** The name of the slice of a Service for one family and port. */
export function sliceName(service: string, { family, port }: Pick<SliceContent, "family" | "port">): string {
  return `${service}-rolecall-${family.toLowerCase()}-${port}`;
}

/**
 * A slice as it is applied.
 * @param resourceVersion the state that it was computed from: another one since is a conflict; `null`: there is no slice
 */
export function sliceObject(
  { namespace, name: service, uid, portName }: SlicedService,
  slice: SliceContent,
  {
    writer,
    unready,
    resourceVersion,
  }: { readonly writer: string | null; readonly unready: Unready; readonly resourceVersion: string | null },
): object {
  const annotations = {
    ...(writer === null ? {} : { [writerAnnotation]: writer }),
    ...(unready === null ? {} : { [unreadyAnnotation]: unready }),
  };
  return {
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: {
      name: sliceName(service, slice),
      namespace,
      ...(resourceVersion === null ? {} : { resourceVersion }),
      labels: { [serviceLabel]: service, [managerLabel]: manager },
      annotations,
      // The slices go with the Service.
      ownerReferences: [{ apiVersion: "v1", kind: "Service", name: service, uid }],
    },
    addressType: slice.family,
    ports: [{ name: portName, port: slice.port, protocol: "TCP" }],
    endpoints: slice.endpoints.map(endpointObject),
  };
}

function endpointObject({ ip, isReady, isServing, zone, pod }: ServiceEndpoint): object {
  return {
    addresses: [ip],
    // kube-proxy sends new connections to what serves and terminates where nobody is ready: replicas would get writes.
    conditions: { ready: isReady, serving: isServing, terminating: false },
    ...(zone === null ? {} : { zone }),
    ...(pod === null || pod.nodeName === null ? {} : { nodeName: pod.nodeName }),
    ...(pod === null ? {} : { targetRef: { kind: "Pod", namespace: pod.namespace, name: pod.name, uid: pod.uid } }),
  };
}

/** The Service that an EndpointSlice belongs to; `null` if it states none. */
export function serviceOfSlice(object: JsonObject): string | null {
  return nameOf(objectOf(metadataOf(object)["labels"])[serviceLabel], nameMax);
}

/** Reads the slices of a Service. What is no slice, or has no name or version, is left out. */
export function readSlices(objects: readonly JsonObject[]): PublishedSlices {
  const own: OwnSlice[] = [];
  const foreign: { name: string; manager: string | null }[] = [];
  for (const object of objects) {
    const { labels, name: named } = metadataOf(object);
    const name = nameOf(named, nameMax);
    if (name === null) continue;
    const by = nameOf(objectOf(labels)[managerLabel], nameMax);
    if (by !== manager) {
      foreign.push({ name, manager: by });
      continue;
    }
    const slice = ownSlice(object, name);
    if (slice !== null) own.push(slice);
  }
  return { own: own.toSorted((one, other) => (one.name < other.name ? -1 : 1)), foreign };
}

function ownSlice(object: JsonObject, name: string): OwnSlice | null {
  const { resourceVersion: version, annotations: written } = metadataOf(object);
  const resourceVersion = nameOf(version, nameMax);
  const { addressType: family, ports, endpoints } = object;
  const sole = objectOf(listOf(ports)[0]);
  if (resourceVersion === null || (family !== "IPv4" && family !== "IPv6")) return null;
  const { [writerAnnotation]: writer, [unreadyAnnotation]: unready } = objectOf(written);
  return {
    name,
    resourceVersion,
    family,
    port: countOf(sole["port"]) ?? 0,
    portName: nameOf(sole["name"], nameMax) ?? "",
    writer: nameOf(writer, nameMax),
    unready: unready === "unreached" || unready === "refused" ? unready : null,
    endpoints: listOf(endpoints).flatMap((endpoint) => endpointOf(endpoint) ?? []),
  };
}

function endpointOf(endpoint: unknown): ServiceEndpoint | null {
  if (!isObject(endpoint)) return null;
  const { addresses, conditions, zone, nodeName, targetRef } = endpoint;
  const [ip] = listOf(addresses);
  if (typeof ip !== "string") return null;
  const { ready, serving } = objectOf(conditions);
  return {
    ip,
    isReady: ready === true,
    isServing: serving === true,
    zone: nameOf(zone, nameMax),
    pod: podOf(targetRef, nameOf(nodeName, nameMax)),
  };
}

function podOf(reference: unknown, nodeName: string | null): PodAt | null {
  if (!isObject(reference) || reference["kind"] !== "Pod") return null;
  const [namespace, name, uid] = ["namespace", "name", "uid"].map((key) => nameOf(reference[key], nameMax));
  if (typeof namespace !== "string" || typeof name !== "string" || typeof uid !== "string") return null;
  return { namespace, name, uid, nodeName };
}

function metadataOf(object: JsonObject): JsonObject {
  return objectOf(object["metadata"]);
}

/** What the slices of a Service say together, whoever has written each; `null`: there are none. */
export function publishedOf(own: readonly OwnSlice[]): PublishedService | null {
  const [first] = own;
  if (first === undefined) return null;
  const unready = own.some((slice) => slice.unready === "unreached") ? "unreached" : "refused";
  // A write of several slices may have come half way: the writer goes on, and so does the one that took over.
  const writers = [...new Set(own.map(({ writer }) => writer))];
  return {
    slices: own.map(({ family, port, endpoints }) => ({ family, port, endpoints })),
    unready: own.some(hasReady) ? null : unready,
    writer: writers.length === 1 ? (writers[0] ?? null) : null,
  };
}

/** A slice to apply, with the version that it was computed from; `null`: there is none yet. */
export interface SliceWrite {
  readonly slice: SliceContent;
  readonly resourceVersion: string | null;
}

/**
 * The slices that have to be applied for a Service to say something else, in an order in which two addresses are never
 * ready at a time: those that lose their ready one first. Slices that are wanted no longer are emptied, not deleted.
 */
export function writesOf(content: ServiceContent, own: readonly OwnSlice[]): readonly SliceWrite[] {
  const wanted = new Map(content.slices.map((slice) => [keyOf(slice), slice]));
  const left = own.filter((slice) => !wanted.has(keyOf(slice)) && slice.endpoints.length > 0);
  const all: readonly SliceContent[] = [
    ...content.slices,
    ...left.map(({ family, port }: { readonly family: AddressFamily; readonly port: number }) => ({
      family,
      port,
      endpoints: [],
    })),
  ];
  return all
    .toSorted((one, other) => Number(hasReady(one)) - Number(hasReady(other)))
    .map((slice) => ({
      slice,
      resourceVersion: own.find((known) => keyOf(known) === keyOf(slice))?.resourceVersion ?? null,
    }));
}

function keyOf({ family, port }: Pick<SliceContent, "family" | "port">): string {
  return `${family} ${port}`;
}

function hasReady({ endpoints }: Pick<SliceContent, "endpoints">): boolean {
  return endpoints.some(({ isReady }) => isReady);
}
