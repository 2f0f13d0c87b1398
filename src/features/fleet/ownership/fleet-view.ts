import * as z from "zod";
import { parseJson } from "../../../core/cluster/values/json.ts";

/** A name in a key: it may contain no slash. */
const memberId = z.string().regex(/^[\w.:[\]-]{1,255}$/);

const memberSchema = z.object({
  /** Its admin listener, as the other members reach it. */
  url: z.url({ protocol: /^https?$/ }).max(512),
  zone: z.string().max(64).nullable().catch(null),
  weight: z.number().min(0.01).max(1_000).catch(1),
  /** How many owners it wants for each cluster: the second place is only for members that want two. */
  observers: z.number().int().min(1).max(2).catch(2),
  version: z.string().max(64),
  /** Names this run of it. */
  instance: z.string().max(64),
  /** The lease of its keys: others pass clusters to it under this lease. */
  lease: z.string().regex(/^\d{1,20}$/),
  /** Cluster -> what its configuration asks of it: only members with the same one share it. */
  clusters: z.record(z.string().max(128), z.string().max(64)),
});

/** A member of the fleet, as it has registered itself. */
export interface FleetMember extends Readonly<z.output<typeof memberSchema>> {
  readonly id: string;
  /** How many clusters it serves. */
  readonly serves: number;
}

const drainSchema = z.object({
  /** Who has drained the member; `null`: nobody has said so. */
  by: z.string().max(512).nullable().catch(null),
  /** When the drain ends, RFC 3339, by the clock of the member that has written it: for people. */
  until: z.string().max(64).nullable().catch(null),
});

/** Why a member is to own nothing, and until when. */
export type MemberDrain = Readonly<z.output<typeof drainSchema>>;

/** What a member does with a cluster. */
export type ClusterAssignment =
  /** It probes it: the cluster is its own, or nobody is known to whom it belongs. */
  | { readonly kind: "probed"; readonly isOwned: boolean; readonly otherOwners: readonly FleetMember[] }
  /** It follows these. */
  | { readonly kind: "followed"; readonly owners: readonly FleetMember[] };

/** What is known of the fleet. */
export interface FleetView {
  readonly members: ReadonlyMap<string, FleetMember>;
  /** Key of a place -> the member that has it, or what else somebody has written there. */
  readonly owners: ReadonlyMap<string, string>;
  /** The members that are to own nothing. */
  readonly draining: ReadonlyMap<string, MemberDrain>;
}

const folders = { members: "members/", owners: "owners/", draining: "draining/" } as const;

/** Whether a key drains a member. */
export function isDrainingKey(key: string): boolean {
  return key.startsWith(folders.draining);
}

/** The key of a member. */
export function memberKey(id: string): string {
  return `${folders.members}${id}`;
}

/** The key that keeps a member from owning clusters. */
export function drainingKey(id: string): string {
  return `${folders.draining}${id}`;
}

/** The key of the member that runs a switchover of a cluster. It says nothing of who owns it. */
export function runKey(cluster: string): string {
  return `runs/${encodeURIComponent(cluster)}`;
}

/** The key of the member that holds the clients of a cluster after a loss. */
export function holdKey(cluster: string): string {
  return `holds/${encodeURIComponent(cluster)}`;
}

/** A place of a cluster that one member may take: one, or two with `observers: 2`. */
export interface Place {
  readonly cluster: string;
  /** What the configuration asks of the cluster. */
  readonly shape: string;
  readonly slot: number;
}

/** The key of a place. */
export function ownerKey({ cluster, shape, slot }: Place): string {
  return `${folders.owners}${encodeURIComponent(cluster)}/${shape}/${slot}`;
}

/** Whether a key is that of a place of a cluster. */
export function isOwnerKeyOf(key: string, cluster: string): boolean {
  return key.startsWith(`${folders.owners}${encodeURIComponent(cluster)}/`);
}

/** What a member writes about itself. */
export function memberRecord(member: Omit<FleetMember, "id" | "serves">): string {
  const { url, zone, weight, observers, version, instance, lease, clusters } = member;
  return JSON.stringify({ url, zone, weight, observers, version, instance, lease, clusters });
}

/** Reads what is written about a fleet, key by key. A damaged member does not count. */
export class FleetReader implements FleetView {
  readonly members = new Map<string, FleetMember>();
  readonly owners = new Map<string, string>();
  readonly draining = new Map<string, MemberDrain>();

  /** Takes a key, without the folder of the fleet. @param value `null`: it is gone */
  take(key: string, value: string | null): void {
    if (key.startsWith(folders.members)) this.#takeMember(key.slice(folders.members.length), value);
    else if (key.startsWith(folders.owners)) {
      // Also what cannot be a member: the key is taken all the same.
      if (value === null) this.owners.delete(key);
      else this.owners.set(key, value);
    } else if (isDrainingKey(key)) {
      const id = key.slice(folders.draining.length);
      if (value === null) this.draining.delete(id);
      else this.draining.set(id, readDrainValue(value));
    }
  }

  #takeMember(id: string, value: string | null): void {
    const read = value === null ? null : memberSchema.safeParse(parseJson(value));
    if (read?.success === true && memberId.safeParse(id).success)
      this.members.set(id, { ...read.data, id, serves: Object.keys(read.data.clusters).length });
    else this.members.delete(id);
  }
}

/** A drain that is damaged counts all the same. */
function readDrainValue(value: string): MemberDrain {
  const read = drainSchema.safeParse(parseJson(value));
  return read.success ? read.data : { by: null, until: null };
}
