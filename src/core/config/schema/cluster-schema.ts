import * as z from "zod";
import { companionsMax } from "../../cluster/values/companion-name.ts";
import { type Guards, defaultGuards } from "../../health/guards.ts";
import { companionName, companionSchema } from "./companion-schema.ts";
import { authSchema, etcdAccess, etcdMembersSchema } from "./etcd-schema.ts";
import { upstreamSchema, upstreamsMax } from "./follow-schema.ts";
import { tlsSchema } from "./tls-schema.ts";
import {
  apiAddress,
  seedAddress,
  databaseAddress,
  dcsPrefix,
  duration,
  exporterAddress,
  flag,
  integer,
  list,
  name,
  plainText,
  section,
  zoneName,
} from "./value-schemas.ts";

/** A `guards` mapping as parsed by the schema; `undefined` for a missing key. */
export type GuardsShape = { readonly [Key in keyof Guards]: Guards[Key] | undefined };

/**
 * A `guards` mapping, for all clusters or for one. Defaults are filled in by {@link mergeGuards}.
 * @param inherited the default of every key as the descriptions state it; `null`: each key has its own default
 */
export function guardsSchema(inherited: string | null): z.ZodType<GuardsShape> {
  const described = (meaning: string, ownDefault: string): string => `${meaning}. Default: ${inherited ?? ownDefault}`;
  const guard = (text: string): z.ZodType<boolean | undefined> => flag().optional().describe(described(text, "true"));
  return z
    .strictObject(
      {
        ...guardSwitches(guard),
        attach_window: duration("100ms", "1h")
          .optional()
          .describe(described("How long a replica may go without evidence of attachment", "10s")),
        demoted_for: duration("0s", "1d")
          .optional()
          .describe(described("How long a node that lost the lock counts as demoted", "60s")),
        lag_samples: integer(1, 60)
          .optional()
          .describe(described("Lag samples in a row needed to reject a node for its lag, and to accept it again", "1")),
        dwell: duration("0s", "10min")
          .optional()
          .describe(
            described("A node unfit because of its lag stays so this long after its last sample over the limit", "0s"),
          ),
        handover_hold: duration("0s", "1min")
          .optional()
          .describe(
            described("How long a new leader stays unfit after the old one ceased to be the lock holder", "0s"),
          ),
        survive: duration("0s", "7d")
          .optional()
          .describe(
            described(
              "How long at most after its last answer a primary whose API hangs stays fit, on the evidence of its " +
                "exporter and of other nodes; 0s: not at all",
              "0s",
            ),
          ),
      },
      { error: "a mapping with the keys of guards" },
    )
    .transform((written) => ({
      exclusivePrimary: written.exclusive_primary,
      runningPrimary: written.running_primary,
      attachedReplica: written.attached_replica,
      sameSystem: written.same_system,
      failoverHold: written.failover_hold,
      attachWindowMs: written.attach_window,
      demotedForMs: written.demoted_for,
      lagSamples: written.lag_samples,
      dwellMs: written.dwell,
      handoverHoldMs: written.handover_hold,
      surviveMs: written.survive,
    }));
}

/** The keys that switch a guard on or off. */
function guardSwitches<Flag>(guard: (meaning: string) => Flag) {
  return {
    exclusive_primary: guard("At most one node counts as the lock holder, whatever the nodes claim"),
    running_primary: guard(
      "A node is fit for a primary route only if the role and the state in its status document allow writes",
    ),
    attached_replica: guard(
      "A replica must stream from the leader, directly or cascaded, and be on the leader's timeline history",
    ),
    same_system: guard("All nodes have one scope and one system identifier, and each reports its expected member name"),
    failover_hold: guard(
      "While no leader states a position, a replica that has replayed all it received keeps its lag in time, " +
        "for at most ttl + loop_wait + retry_timeout",
    ),
  };
}

/** Fills the missing keys of a `guards` mapping from `base`. */
export function mergeGuards(shape: GuardsShape, base: Guards = defaultGuards): Guards {
  return {
    exclusivePrimary: shape.exclusivePrimary ?? base.exclusivePrimary,
    runningPrimary: shape.runningPrimary ?? base.runningPrimary,
    attachedReplica: shape.attachedReplica ?? base.attachedReplica,
    sameSystem: shape.sameSystem ?? base.sameSystem,
    failoverHold: shape.failoverHold ?? base.failoverHold,
    attachWindowMs: shape.attachWindowMs ?? base.attachWindowMs,
    demotedForMs: shape.demotedForMs ?? base.demotedForMs,
    lagSamples: shape.lagSamples ?? base.lagSamples,
    dwellMs: shape.dwellMs ?? base.dwellMs,
    handoverHoldMs: shape.handoverHoldMs ?? base.handoverHoldMs,
    surviveMs: shape.surviveMs ?? base.surviveMs,
  };
}

/** The `dcs` mapping of a cluster. */
const dcsSchema = z.strictObject(
  {
    etcd: etcdMembersSchema.default([]),
    kubernetes: z
      .strictObject(
        {
          namespace: plainText("the name of a namespace", 63)
            .nullable()
            .default(null)
            .describe("Namespace of the objects. Default: that of rolecall's pod, or of the kubeconfig's context"),
          object: z
            .enum(["configmaps", "endpoints"], { error: "configmaps or endpoints" })
            .default("configmaps")
            .describe("Where Patroni keeps its leader: endpoints with use_endpoints"),
          selector: plainText("a selector of labels", 1024)
            .nullable()
            .default(null)
            .describe("Labels of the objects of the cluster. Default: cluster-name=SCOPE"),
        },
        { error: "a mapping with the keys namespace, object and selector" },
      )
      .optional()
      .describe("Patroni keeps its leader in Kubernetes, in place of etcd: {} for the defaults"),
    prefix: dcsPrefix().prefault("/service").describe("Patroni's namespace: the keys begin with this and the scope"),
    scope: name().nullable().default(null).describe("Scope in the keys. Default: the scope of the cluster"),
    ...etcdAccess("to read the keys"),
  },
  { error: "a mapping with the keys of a DCS, at least etcd or kubernetes" },
);

const nodeTlsSchema = z.strictObject(
  {
    server_name: plainText("a host name", 253).describe(
      "Name in the certificates of the node's API and exporter. Default: that of the cluster's tls",
    ),
  },
  { error: "a mapping with the key server_name" },
);

const zonesSchema = z.strictObject(
  { tag: name().describe("Tag of Patroni whose value is the zone of a node that states none in the configuration") },
  { error: "a mapping with the key tag" },
);

/** One entry of `clusters[].nodes`. */
export const nodeSchema = z
  .strictObject(
    {
      name: name().describe("Name of the node in paths, headers, metrics and logs"),
      member: name().nullable().default(null).describe("Member name that the node must report"),
      api: apiAddress()
        .nullable()
        .prefault(null)
        .describe("Base address of its API. May be left out if there is an exporter"),
      exporter: exporterAddress().nullable().prefault(null).describe("Base address of its exporter"),
      database: databaseAddress().nullable().prefault(null).describe("Address of the database itself, host:port"),
      tls: nodeTlsSchema
        .nullable()
        .default(null)
        .describe("TLS of connections to this node, where it differs from the cluster's"),
      archive_fed: flag()
        .default(false)
        .describe("The node restores WAL from an archive, so it is not required to stream"),
      companions: z
        .record(companionName(), databaseAddress(), { error: "a mapping of companions to addresses" })
        .default({})
        .describe("Companion -> host:port, where that of this node listens elsewhere. Default: as companions say"),
      zone: zoneName().nullable().default(null).describe("Zone of the node. Default: what its tag says, see zones"),
    },
    { error: "a mapping with the keys of a node, at least name and api, or name and exporter" },
  )
  .transform(({ archive_fed: archiveFed, tls, ...node }) => ({
    ...node,
    archiveFed,
    serverName: tls?.server_name ?? null,
  }));

/** What a cluster must be that is no mapping. */
export const clusterError = { error: "a mapping with the keys of a cluster" };

/**
 * The keys of the core in each entry of `clusters`. File names may be relative; `guards` holds only keys that override
 * those of all clusters.
 */
export const clusterKeys = {
  name: name().describe("Name of the cluster in paths, headers, metrics and logs"),
  scope: name().nullable().default(null).describe("Scope that its nodes must report. Default: the name"),
  discover: list(seedAddress(), 64).describe(
    "Seeds: APIs of nodes, or pods (kubernetes://databases?selector=cluster-name=orders), tried in turn. Members are taken from the cluster document (GET /cluster)",
  ),
  nodes: list(nodeSchema, 256).describe("Fixed nodes. They never leave the cluster"),
  tls: tlsSchema("the nodes").nullable().prefault(null).describe("TLS of connections to the nodes"),
  auth: authSchema
    .nullable()
    .default(null)
    .describe("Basic authentication of management calls to the nodes. Default: none"),
  source: name()
    .nullable()
    .default(null)
    .describe("Cluster that this standby cluster replicates from. Lag counts from its primary. Default: none"),
  dcs: dcsSchema
    .nullable()
    .prefault(null)
    .describe("DCS to watch, so that changes of the leader are seen sooner. Default: none"),
  zones: zonesSchema.nullable().default(null).describe("How nodes state their zones. Default: not at all"),
  companions: list(companionSchema, companionsMax).describe(
    "Programs that run next to each node, such as its pooler. Checks ask for it (with=)",
  ),
  follow: z
    .array(upstreamSchema, { error: `a list of at most ${upstreamsMax}` })
    .max(upstreamsMax, { error: `a list of at most ${upstreamsMax}` })
    .nullable()
    .default(null)
    .describe("Other rolecalls whose outcomes of this cluster are taken, in place of probing. Default: that of follow"),
  guards: section(guardsSchema("that of guards")).describe("Overrides of the global guards for this cluster"),
};
