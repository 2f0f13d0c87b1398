import * as z from "zod";
import { absolute, absoluteTls, accessIn, type CompleteFeature } from "../../../core/config/assemble.ts";
import type { Frozen } from "../../../core/config/model/config.ts";
import { etcdAccess, etcdMembersSchema } from "../../../core/config/schema/etcd-schema.ts";
import { tlsSchema } from "../../../core/config/schema/tls-schema.ts";
import { checkTokenAddress } from "../../../core/config/schema/token-address.ts";
import {
  baseAddress,
  dcsPrefix,
  duration,
  integer,
  plainText,
  whenValid,
  zoneName,
} from "../../../core/config/schema/value-schemas.ts";

const nameAllowed = "a name of 1 to 64 letters, digits, dots, hyphens and underscores";

/** The `fleet.etcd` mapping. */
const fleetEtcdSchema = z.strictObject(
  {
    urls: etcdMembersSchema,
    prefix: dcsPrefix().prefault("/rolecall").describe("The keys of the fleet begin with this and its name"),
    ...etcdAccess("to read and write the keys"),
  },
  { error: "a mapping with the keys urls, prefix, tls and auth, at least urls" },
);

const leaseStepMs = 1_000;

/** The `fleet` mapping: instances that share the probes of their clusters. */
const fleetMapping = z
  .strictObject(
    {
      name: z
        .string({ error: nameAllowed })
        .regex(/^[A-Za-z0-9._-]{1,64}$/, { error: nameAllowed })
        .describe("Name of the fleet. Its members have the same name and the same etcd"),
      advertise: baseAddress("https://edge1:9443", []).describe(
        "Base address of an admin listener of this instance, as the other members reach it",
      ),
      etcd: fleetEtcdSchema.describe("Where the members agree on who probes which cluster"),
      zone: zoneName().nullable().default(null).describe("Zone that this instance is in"),
      observers: integer(1, 2).default(1).describe("How many members probe each cluster; 2: in two zones"),
      weight: integer(1, 100).default(1).describe("Share of the clusters that this instance probes"),
      lease: duration("2s", "60s")
        .refine((ms) => ms % leaseStepMs === 0, { error: "a whole number of seconds from 2s to 60s, such as 5s" })
        .prefault("5s")
        .describe("After so long without a sign of life of this instance, other members probe its clusters"),
      token_file: plainText("the name of a file", 4096)
        .nullable()
        .default(null)
        .describe("File with a token of the other members' admin listeners on its first line. Default: no token"),
      tls: tlsSchema("the other members").nullable().prefault(null).describe("TLS of connections to the other members"),
    },
    { error: "a mapping with the keys of a fleet, at least name, advertise and etcd" },
  )
  .superRefine(
    (written, context) => checkTokenAddress(written, "advertise", context),
    whenValid("advertise", "token_file"),
  )
  .transform(({ lease: leaseMs, token_file: tokenFile, ...written }) => ({ ...written, leaseMs, tokenFile }));

/** The key `fleet`. */
export const fleetSchema = fleetMapping
  .nullable()
  .default(null)
  .describe(
    "The instances to share the probes with (docs/fleet.md). Excludes follow; a cluster with a follow of its own is not " +
      "shared. Default: none",
  );

/** The fleet whose members share the probes of the clusters. Files are absolute paths. */
export type FleetConfig = Frozen<z.output<typeof fleetMapping>>;

declare module "../../../core/config/model/config.ts" {
  interface FeatureConfigs {
    readonly fleet: FleetConfig | null;
  }
}

/** The files of a fleet with absolute paths. */
export const completeFleet: CompleteFeature = (shape, { folderOf }) => {
  if (shape.fleet === null) return shape;
  const { etcd, tls, tokenFile } = shape.fleet;
  const fleet = {
    ...shape.fleet,
    etcd: { ...etcd, ...accessIn((...key) => folderOf("fleet", "etcd", ...key), etcd) },
    tls: absoluteTls((...key) => folderOf("fleet", ...key), tls),
    tokenFile: absolute(folderOf("fleet", "token_file"), tokenFile),
  };
  return { ...shape, fleet };
};
