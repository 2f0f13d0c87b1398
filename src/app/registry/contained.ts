/**
 * The features whose code serves one connection, one node or one balancer, and writes nothing that all share: an
 * exception that nothing caught in it ends nothing else (app/uncaught-exceptions.ts).
 */
export const containedFeatures: readonly string[] = [
  "agent",
  "canary",
  "companions",
  "dcs",
  "exporter",
  "gateway",
  "haproxy",
  "kubernetes",
  "page",
  "pgbouncer",
  "xds",
];
