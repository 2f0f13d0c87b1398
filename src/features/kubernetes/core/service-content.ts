/** What the EndpointSlices of a Service should say. Pure. */

/** How an IP address is written. A slice holds addresses of one family. */
export type AddressFamily = "IPv4" | "IPv6";

/** The pod that has an address. */
export interface PodAt {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** The machine that it runs on; `null`: not known. */
  readonly nodeName: string | null;
}

/** A member of the pool that a Service leads to. */
export interface ServiceMember {
  readonly node: string;
  /** Its address; `null`: not known, so that it cannot be published. */
  readonly address: { readonly ip: string; readonly port: number } | null;
  readonly isFit: boolean;
  /** Whether a node that is not fit serves all the same: its no is soft, as for lag. */
  readonly isServing: boolean;
  /** Whether nothing is known for or against it: it stays as it was published. */
  readonly isSilent: boolean;
  /** Whether it does not answer this rolecall, which another one may reach. */
  readonly isUnreached: boolean;
  /** The reason for its no; `null`: it is fit. */
  readonly why: string | null;
  readonly zone: string | null;
  readonly pod: PodAt | null;
}

/** An endpoint of a slice. */
export interface ServiceEndpoint {
  readonly ip: string;
  readonly isReady: boolean;
  readonly isServing: boolean;
  readonly zone: string | null;
  readonly pod: PodAt | null;
}

/** A slice: the endpoints of one address family that share a port, in the order of their addresses. */
export interface SliceContent {
  readonly family: AddressFamily;
  readonly port: number;
  /** The name of the Service's port that leads here; `""`: it has none, as a sole one may. */
  readonly portName: string;
  readonly endpoints: readonly ServiceEndpoint[];
}

/**
 * Why nobody is ready: `unreached`, if a member does not answer this rolecall, which another one may reach; `refused`, if
 * all answer and none is fit. `null`: somebody is ready.
 */
export type Unready = "unreached" | "refused" | null;

/** What all slices of a Service say together. */
export interface ServiceContent {
  readonly slices: readonly SliceContent[];
  readonly unready: Unready;
}

/** How a Service is published. */
export interface ServiceRules {
  /** Whether it leads to the primary: then two addresses are never ready. */
  readonly isOfPrimary: boolean;
  /** The name of its port; `""`: it has none. */
  readonly portName: string;
  /** What is published of each address, as {@link addressKey} writes it. */
  readonly published: ReadonlyMap<string, Pick<ServiceEndpoint, "isReady" | "isServing">>;
}

/** Decides what the slices of a Service say. Every member with an address is listed, ready or not. */
export function serviceContent(members: readonly ServiceMember[], rules: ServiceRules): ServiceContent {
  const isReady = ({ address, isFit, isSilent }: ServiceMember): boolean =>
    address !== null && (isSilent ? rules.published.get(addressKey(address))?.isReady === true : isFit);
  const ready = members.filter(isReady);
  // Two that may write are none: which of them is right, the rules of the cluster have to tell.
  const places = new Set(ready.flatMap(({ address }) => (address === null ? [] : [addressKey(address)])));
  const areTooMany = rules.isOfPrimary && places.size > 1;
  const slices = new Map<string, SliceContent & { readonly endpoints: ServiceEndpoint[] }>();
  const listed = new Set<string>();
  for (const member of members.toSorted((one, other) => compareIps(one.address?.ip ?? "", other.address?.ip ?? ""))) {
    const { address, zone, pod } = member;
    // Two nodes at one address are one endpoint, ready if one of them is.
    if (address === null || listed.has(addressKey(address))) continue;
    const isServing = member.isSilent ? rules.published.get(addressKey(address))?.isServing === true : member.isServing;
    const isListedReady = !areTooMany && places.has(addressKey(address));
    const family = address.ip.includes(":") ? "IPv6" : "IPv4";
    const key = `${family} ${address.port}`;
    const slice = slices.get(key) ?? { family, port: address.port, portName: rules.portName, endpoints: [] };
    slices.set(key, slice);
    listed.add(addressKey(address));
    slice.endpoints.push({ ip: address.ip, isReady: isListedReady, isServing: isListedReady || isServing, zone, pod });
  }
  const hasReady = !areTooMany && ready.length > 0;
  return {
    slices: [...slices.values()].toSorted((one, other) => compareIps(keyOf(one), keyOf(other))),
    unready: hasReady ? null : members.some(({ isUnreached }) => isUnreached) && !areTooMany ? "unreached" : "refused",
  };
}

/** An address as a key. */
export function addressKey({ ip, port }: { readonly ip: string; readonly port: number }): string {
  return `${ip} ${port}`;
}

function keyOf({ family, port }: SliceContent): string {
  return `${family} ${port}`;
}

/** By code units: every process has the same order. */
function compareIps(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
