/** EndpointSlices as the API server has them (discovery.k8s.io/v1), written and read. Pure. */
import { isObject, listOf, nameOf, objectOf, type JsonObject } from "../../../core/cluster/values/json.ts";
import { isSliceSaid, type PublishedService } from "./turn-to-write.ts";
import type { PodAt, ServiceContent, ServiceEndpoint, SliceContent, Unready } from "./service-content.ts";

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
}

/** The state of a slice that a write is computed from: where there is another one by then, or none, it is a conflict. */
export interface SliceBase {
  readonly uid: string;
  readonly resourceVersion: string;
}

/** A slice of rolecall's own that the API server has. */
export interface OwnSlice extends SliceContent {
  readonly name: string;
  readonly base: SliceBase;
  readonly writer: string | null;
  readonly unready: Unready;
  /** Whether somebody has changed what rolecall states beside addresses: it has to be written again. */
  readonly isAltered: boolean;
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
 * @param base `null`: as it is created
 */
export function sliceObject(
  { namespace, name: service, uid }: SlicedService,
  slice: SliceContent,
  {
    writer,
    unready,
    base,
  }: { readonly writer: string | null; readonly unready: Unready; readonly base: SliceBase | null },
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
      ...base,
      labels: { [serviceLabel]: service, [managerLabel]: manager },
      annotations,
      // The slices go with the Service.
      ownerReferences: [{ apiVersion: "v1", kind: "Service", name: service, uid }],
    },
    addressType: slice.family,
    ports: [{ name: slice.portName, port: slice.port, protocol: "TCP" }],
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

/** The Service whose slices are read. @property uid `null`: not known */
export type ReadService = Pick<SlicedService, "name"> & { readonly uid: string | null };

/**
 * Reads the slices of a Service. A slice whose name has the form that rolecall gives is rolecall's own, whatever its labels
 * are. What is no slice, or has no name or version, is left out.
 */
export function readSlices(objects: readonly JsonObject[], service: ReadService): PublishedSlices {
  const own: OwnSlice[] = [];
  const foreign: { name: string; manager: string | null }[] = [];
  for (const object of objects) {
    const { labels, name: named } = metadataOf(object);
    const name = nameOf(named, nameMax);
    if (name === null) continue;
    const place = placeIn(name, service.name);
    if (place === null) {
      foreign.push({ name, manager: nameOf(objectOf(labels)[managerLabel], nameMax) });
      continue;
    }
    const slice = ownSlice(object, { ...place, name, service });
    if (slice !== null) own.push(slice);
  }
  return { own: own.toSorted((one, other) => (one.name < other.name ? -1 : 1)), foreign };
}

/** What the name of a slice of rolecall says; `null`: it is none. The reverse of {@link sliceName}. */
function placeIn(name: string, service: string): Pick<SliceContent, "family" | "port"> | null {
  const [, family, port] =
    /^-rolecall-(ipv[46])-([1-9]\d{0,4})$/.exec(name.startsWith(service) ? name.slice(service.length) : "") ?? [];
  return family === undefined ? null : { family: family === "ipv4" ? "IPv4" : "IPv6", port: Number(port) };
}

function ownSlice(
  object: JsonObject,
  { name, family, port, service }: Pick<OwnSlice, "name" | "family" | "port"> & { readonly service: ReadService },
): OwnSlice | null {
  const { annotations: written } = metadataOf(object);
  const base = sliceBaseOf(object);
  const { ports, endpoints } = object;
  if (base === null) return null;
  const { [writerAnnotation]: writer, [unreadyAnnotation]: unready } = objectOf(written);
  return {
    name,
    base,
    family,
    port,
    portName: nameOf(objectOf(listOf(ports)[0])["name"], nameMax) ?? "",
    writer: nameOf(writer, nameMax),
    unready: unready === "unreached" || unready === "refused" ? unready : null,
    isAltered: isAltered(object, port, service),
    endpoints: listOf(endpoints).flatMap((endpoint) => endpointOf(endpoint) ?? []),
  };
}

/** Whether something else than the contents of a slice is not as {@link sliceObject} has it. */
function isAltered(object: JsonObject, port: number, { name, uid }: ReadService): boolean {
  const { labels, ownerReferences } = metadataOf(object);
  const { [serviceLabel]: service, [managerLabel]: by } = objectOf(labels);
  const [sole, ...others] = listOf(object["ports"]).map(objectOf);
  return (
    service !== name ||
    by !== manager ||
    // A Service that was created anew: with the old one the slice would be deleted.
    (uid !== null && !listOf(ownerReferences).some((owner) => objectOf(owner)["uid"] === uid)) ||
    others.length > 0 ||
    sole?.["port"] !== port ||
    sole["protocol"] !== "TCP" ||
    listOf(object["endpoints"]).some(isEndpointAltered)
  );
}

function isEndpointAltered(endpoint: unknown): boolean {
  const { addresses, conditions } = objectOf(endpoint);
  const { ready, serving, terminating } = objectOf(conditions);
  // What is not stated, Kubernetes takes for ready and serving.
  return (
    listOf(addresses).length !== 1 || typeof ready !== "boolean" || typeof serving !== "boolean" || terminating === true
  );
}

/** The state of an object; `null`: it states none. */
export function sliceBaseOf(object: JsonObject): SliceBase | null {
  const [uid, resourceVersion] = ["uid", "resourceVersion"].map((key) => nameOf(metadataOf(object)[key], nameMax));
  return typeof uid !== "string" || typeof resourceVersion !== "string" ? null : { uid, resourceVersion };
}

function endpointOf(endpoint: unknown): ServiceEndpoint | null {
  if (!isObject(endpoint)) return null;
  const { addresses, conditions, zone, nodeName, targetRef } = endpoint;
  const [ip] = listOf(addresses);
  if (typeof ip !== "string") return null;
  const { ready, serving } = objectOf(conditions);
  return {
    ip,
    // What is not stated, Kubernetes takes for ready.
    isReady: ready !== false,
    isServing: serving !== false,
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
    slices: own.map(({ family, port, portName, endpoints }) => ({ family, port, portName, endpoints })),
    unready: own.some(hasReady) ? null : unready,
    isAltered: own.some((slice) => slice.isAltered),
    writer: writers.length === 1 ? (writers[0] ?? null) : null,
  };
}

/** A slice to apply. */
export interface SliceWrite {
  readonly slice: SliceContent;
  /** `null`: there is none yet. */
  readonly base: SliceBase | null;
}

/** What all slices of a Service state beside their endpoints. */
export interface SliceStatement {
  readonly writer: string | null;
  readonly unready: Unready;
}

/**
 * The slices that have to be applied for a Service to say something else, in an order in which two addresses are never
 * ready at a time: those that lose their ready one first. Slices that are wanted no longer are emptied, not deleted.
 */
export function writesOf(
  content: ServiceContent,
  own: readonly OwnSlice[],
  stated: SliceStatement,
): readonly SliceWrite[] {
  const wanted = new Set(content.slices.map(keyOf));
  const emptied = own
    .filter((slice) => !wanted.has(keyOf(slice)))
    .map((slice): SliceContent => ({ ...slice, endpoints: [] }));
  return [...content.slices, ...emptied]
    .toSorted((one, other) => Number(hasReady(one)) - Number(hasReady(other)))
    .flatMap((slice) => {
      const known = own.find((one) => keyOf(one) === keyOf(slice));
      const isSaid = known !== undefined && !known.isAltered && isSliceSaid(slice, known) && isStated(known, stated);
      return isSaid ? [] : [{ slice, base: known?.base ?? null }];
    });
}

function isStated(known: OwnSlice, { writer, unready }: SliceStatement): boolean {
  return known.writer === writer && known.unready === unready;
}

function keyOf({ family, port }: Pick<SliceContent, "family" | "port">): string {
  return `${family} ${port}`;
}

function hasReady({ endpoints }: Pick<SliceContent, "endpoints">): boolean {
  return endpoints.some(({ isReady }) => isReady);
}
