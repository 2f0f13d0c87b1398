import { type ExporterPage, noDiskFigures } from "../../src/core/cluster/exporter/exporter-report.ts";

/** The content of the page of a primary without standbys. */
export const primaryPage: ExporterPage = {
  family: "pg_exporter",
  isPooler: false,
  isUp: true,
  isInRecovery: false,
  databaseTimeS: 0,
  serverVersion: 150_020,
  system: "7000000000000000001",
  timeline: 1,
  written: 5_000,
  received: null,
  replayed: null,
  lagSeconds: 0,
  isReplayPaused: false,
  senders: [],
  streaming: 0,
  receiver: null,
  disk: noDiskFigures,
  samples: 10,
};

/** The same database as a standby that has not replayed all it received. */
export const replicaPage: ExporterPage = {
  ...primaryPage,
  isInRecovery: true,
  written: null,
  received: 5_000,
  replayed: 4_000,
};
