import * as z from "zod";
import type { NodeConfig } from "../model/config.ts";
import { apiAddress, databaseAddress, exporterAddress, flag, name, plainText } from "./value-schemas.ts";

/** One entry of `clusters[].nodes`. */
export function nodeSchema(): z.ZodType<NodeConfig> {
  return z
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
        tls: nodeTlsSchema()
          .nullable()
          .default(null)
          .describe("TLS of connections to this node, where it differs from the cluster's"),
        archive_fed: flag()
          .default(false)
          .describe("The node restores WAL from an archive, so it is not required to stream"),
      },
      { error: "a mapping with the keys of a node, at least name and api, or name and exporter" },
    )
    .transform(({ archive_fed: archiveFed, tls, ...node }) => ({
      ...node,
      archiveFed,
      serverName: tls?.server_name ?? null,
    }));
}

function nodeTlsSchema() {
  return z.strictObject(
    {
      server_name: plainText("a host name", 253).describe(
        "Name in the certificates of the node's API and exporter. Default: that of the cluster's tls",
      ),
    },
    { error: "a mapping with the key server_name" },
  );
}
