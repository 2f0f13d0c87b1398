/** What is reported of a Service by Events on it, as `kubectl describe service` shows them. Pure. */
import { countText, listText } from "../../../core/health/wording.ts";
import { addressText } from "./seen-service.ts";
import type { ServiceMember } from "./service-content.ts";
import { manager, type SlicedService } from "./slice-objects.ts";

/** The kinds of Events: of each there is at most one in a minute for a Service. */
export type ServiceEventReason =
  | "PrimaryChanged"
  | "NoPrimary"
  /** The same of a Service for reads. */
  | "MembersReady"
  | "NoMember"
  /** rolecall sees no member any more: what is published stays. */
  | "NotKnown";

/** An Event on a Service. */
export interface ServiceEvent {
  readonly reason: ServiceEventReason;
  readonly type: "Normal" | "Warning";
  readonly message: string;
}

/** An address that is ready, with its port. */
export interface ReadyAddress {
  readonly ip: string;
  readonly port: number;
}

/** How many members are named. */
const namedMax = 5;

/**
 * What there is to say of a write.
 * @param before the addresses that were ready before; `null`: nothing was published
 * @param after those that are ready now; `null`: this rolecall sees no member any more, and what is published stays
 * @returns `null`: nothing, as a Service for reads that has other members than before
 */
export function serviceEvent(
  before: readonly ReadyAddress[] | null,
  after: readonly ReadyAddress[] | null,
  { isOfPrimary, members }: { readonly isOfPrimary: boolean; readonly members: readonly Omit<ServiceMember, "pod">[] },
): ServiceEvent | null {
  if (after === null)
    return {
      reason: "NotKnown",
      type: "Warning",
      message: "rolecall does not see the nodes any more; the Service leads on to where it led",
    };
  if (before !== null && textOf(before) === textOf(after)) return null;
  const named = after.map((address) => nameOf(address, members));
  if (after.length === 0) {
    const message = isOfPrimary ? "no primary" : "no member is fit";
    return {
      reason: isOfPrimary ? "NoPrimary" : "NoMember",
      type: "Warning",
      message: `${message}${whyText(members)}`,
    };
  }
  if (isOfPrimary) {
    const earlier =
      before === null || before.length === 0
        ? ""
        : `, in place of ${listText(before.map((one) => nameOf(one, members)))}`;
    return { reason: "PrimaryChanged", type: "Normal", message: `the primary is ${listText(named)}${earlier}` };
  }
  if (before !== null && before.length > 0) return null;
  const ready = named.length > namedMax ? countText(named.length, "member") : listText(named);
  return { reason: "MembersReady", type: "Normal", message: `the Service leads to ${ready}` };
}

/** An address with the name of the node that has it: `pg1 (10.0.0.1:5432)`. */
function nameOf(address: ReadyAddress, members: readonly Omit<ServiceMember, "pod">[]): string {
  const found = members.find((one) => one.address?.ip === address.ip && one.address.port === address.port);
  return found === undefined ? addressText(address) : `${found.node} (${addressText(address)})`;
}

/** Why no member is fit: `: pg1 is down, pg2 is wrong_role`. */
function whyText(members: readonly Omit<ServiceMember, "pod">[]): string {
  const told = members.flatMap(({ node, why }) => (why === null ? [] : `${node} is ${why}`));
  if (told.length === 0) return "";
  const more = told.length > namedMax ? `, and ${countText(told.length - namedMax, "more")}` : "";
  return `: ${told.slice(0, namedMax).join(", ")}${more}`;
}

function textOf(addresses: readonly ReadyAddress[]): string {
  return addresses
    .map(({ ip, port }) => `${ip} ${port}`)
    .toSorted()
    .join();
}

/**
 * An Event as it is created (core/v1, which `kubectl describe` reads).
 * @param instance the rolecall that reports it
 * @param wallMs when it happened, in ms since the epoch
 */
export function eventObject(
  { namespace, name, uid }: SlicedService,
  { reason, type, message }: ServiceEvent,
  { instance, wallMs }: { readonly instance: string; readonly wallMs: number },
): object {
  const at = new Date(Math.floor(wallMs / 1_000) * 1_000).toISOString().replace(".000Z", "Z");
  return {
    apiVersion: "v1",
    kind: "Event",
    // At most 63 characters of the name of a Service, and what the server adds.
    metadata: { generateName: `${name}.${manager}-`, namespace },
    involvedObject: { apiVersion: "v1", kind: "Service", namespace, name, uid },
    reason,
    type,
    message: message.slice(0, messageMax),
    source: { component: manager },
    reportingComponent: manager,
    reportingInstance: instance,
    firstTimestamp: at,
    lastTimestamp: at,
    count: 1,
  };
}

/** The longest message that the API server takes, in bytes: 1,024 characters of ASCII. */
const messageMax = 1_024;
