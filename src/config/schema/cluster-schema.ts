import * as z from "zod";
import { defaultGuards, type Guards } from "../../health/guards.ts";
import type { ClusterConfig, NodeAuth, NodeConfig, TlsFiles } from "../model/config.ts";
import {
  apiAddress,
  databaseAddress,
  duration,
  exporterAddress,
  flag,
  integer,
  list,
  name,
  section,
  plainText,
} from "./value-schemas.ts";

/**
 * What one entry of `clusters` says, before it is completed from its surroundings: no scope where the file says none, TLS files by the
 * names the file gives them, and of the guards what differs.
 */
export interface ClusterShape extends Omit<ClusterConfig, "guards"> {
  readonly guards: GuardsShape;
}

/** What a `guards` mapping says; `undefined` where it says nothing. */
export type GuardsShape = { readonly [Key in keyof Guards]: Guards[Key] | undefined };

/** One entry of `clusters`. */
export function clusterSchema(): z.ZodType<ClusterShape> {
  return z.strictObject(
    {
      name: name().describe("Name of the cluster in paths, headers, metrics and logs"),
      scope: name().nullable().default(null).describe("Scope that its nodes must state. Default: the name"),
      discover: list(apiAddress(), 64).describe("Seeds, tried in turn. Members come from the cluster document"),
      nodes: list(nodeSchema(), 256).describe("Fixed nodes. They never leave the cluster"),
      tls: tlsSchema()
        .nullable()
        .prefault(null)
        .describe("TLS towards the nodes. Files are read again when they change"),
      auth: authSchema()
        .nullable()
        .default(null)
        .describe("Basic authentication of management calls towards the nodes. Default: none"),
      guards: section(guardsSchema()).describe("What differs from the guards of all clusters"),
    },
    { error: "a mapping with the keys of a cluster" },
  );
}

/** A `guards` mapping, the same for all clusters and for one. Defaults are not filled in: see {@link mergeGuards}. */
export function guardsSchema(): z.ZodType<GuardsShape> {
  return z
    .strictObject(
      {
        exclusive_primary: guard("At most one node holds the lock, whatever the nodes claim"),
        running_primary: guard("A primary route needs a status document that does not contradict it"),
        attached_replica: guard("A replica has to be attached to the leader's stream, on its history"),
        same_system: guard("One scope, one system identifier, and the node that was meant"),
        attach_window: duration("100ms", "1h")
          .optional()
          .describe("How long a replica may show no sign of attachment. Default: 10s"),
        demoted_for: duration("0s", "1d")
          .optional()
          .describe("How long a node that held the lock counts as demoted. Default: 60s"),
        lag_samples: integer(1, 60)
          .optional()
          .describe(
            "Lag samples in a row that it takes to refuse a node for its lag, and as many to take it back. Default: 1",
          ),
        dwell: duration("0s", "10min")
          .optional()
          .describe("How long a node refused for its lag stays out after its last excess. Default: 0s"),
        handover_hold: duration("0s", "1min")
          .optional()
          .describe("How long a new leader waits for its yes after the old one's was withdrawn. Default: 0s"),
        survive: duration("0s", "1min")
          .optional()
          .describe(
            "How long a primary whose API is silent keeps its yes on its exporter's word; 0s is never. Default: 0s",
          ),
      },
      { error: "a mapping of guards" },
    )
    .transform((said) => ({
      exclusivePrimary: said.exclusive_primary,
      runningPrimary: said.running_primary,
      attachedReplica: said.attached_replica,
      sameSystem: said.same_system,
      attachWindowMs: said.attach_window,
      demotedForMs: said.demoted_for,
      lagSamples: said.lag_samples,
      dwellMs: said.dwell,
      handoverHoldMs: said.handover_hold,
      surviveMs: said.survive,
    }));
}

/** Lays what a `guards` mapping says over `base`. */
export function mergeGuards(said: GuardsShape, base: Guards = defaultGuards): Guards {
  return {
    exclusivePrimary: said.exclusivePrimary ?? base.exclusivePrimary,
    runningPrimary: said.runningPrimary ?? base.runningPrimary,
    attachedReplica: said.attachedReplica ?? base.attachedReplica,
    sameSystem: said.sameSystem ?? base.sameSystem,
    attachWindowMs: said.attachWindowMs ?? base.attachWindowMs,
    demotedForMs: said.demotedForMs ?? base.demotedForMs,
    lagSamples: said.lagSamples ?? base.lagSamples,
    dwellMs: said.dwellMs ?? base.dwellMs,
    handoverHoldMs: said.handoverHoldMs ?? base.handoverHoldMs,
    surviveMs: said.surviveMs ?? base.surviveMs,
  };
}

function guard(what: string): z.ZodType<boolean | undefined> {
  return flag().optional().describe(`${what}. Default: true`);
}

function nodeSchema(): z.ZodType<NodeConfig> {
  return z
    .strictObject(
      {
        name: name().describe("Name of the node in paths, headers, metrics and logs"),
        member: name().nullable().default(null).describe("Member name that the node itself must state"),
        api: apiAddress()
          .nullable()
          .prefault(null)
          .describe("Base address of its API. May be left out where exporter is said"),
        exporter: exporterAddress().nullable().prefault(null).describe("Base address of its exporter"),
        database: databaseAddress().nullable().prefault(null).describe("Where the database itself listens, host:port"),
        archive_fed: flag().default(false).describe("Fed from an archive: it need not be attached to a stream"),
      },
      { error: "a mapping with the keys of a node: name and api, or name and exporter, at least" },
    )
    .transform(({ archive_fed: archiveFed, ...node }) => ({ ...node, archiveFed }));
}

function tlsSchema(): z.ZodType<TlsFiles> {
  const file = "the name of a PEM file";
  return z
    .strictObject(
      {
        ca: plainText(file, 4096)
          .nullable()
          .default(null)
          .describe("Who signs the nodes' certificates. Default: the system's authorities"),
        cert: plainText(file, 4096)
          .nullable()
          .default(null)
          .describe("Our own certificate, where nodes ask for one. Needs key"),
        key: plainText(file, 4096).nullable().default(null).describe("Key of our own certificate"),
        server_name: plainText("a host name", 253)
          .nullable()
          .default(null)
          .describe("Name the nodes' certificates carry. Default: each address's host"),
      },
      { error: "a mapping of ca, cert, key and server_name" },
    )
    .transform(({ server_name: serverName, ...files }) => ({ ...files, serverName }));
}

function authSchema(): z.ZodType<NodeAuth> {
  return z
    .strictObject(
      {
        user: plainText("a user name", 128).describe("Name that the nodes know"),
        password_file: plainText("the name of a file", 4096).describe(
          "File with the password on its first line. It is read again when it changes",
        ),
      },
      { error: "a mapping of user and password_file" },
    )
    .transform(({ user, password_file: passwordFile }) => ({ user, passwordFile }));
}
