import type { CommandSpec } from "../framework/command.ts";
import { clusterOption, serverOptions, sourceOptions } from "../framework/options.ts";

/** Commands around setting things up. */
export const setupCommands: readonly CommandSpec[] = [
  {
    name: "validate",
    summary: "check a configuration: every problem at once, with its line",
    about:
      "Reads a configuration and says everything that is wrong with it. Environment variables count as they do for serve.",
    positionals: { usage: "FILE", least: 1, most: 1 },
    options: [
      { name: "set", value: "PATH=VALUE", multiple: true, help: "one setting laid over the file; may be repeated" },
    ],
    examples: ["rolecall validate /etc/rolecall.yaml"],
    checks: [{ id: "configuration", required: true }],
    load: async () => (await import("../commands/validate.ts")).validate,
  },
  {
    name: "doctor",
    summary: "examine a whole set-up",
    about:
      "Examines the configuration, every node, versions, clocks, scopes and system identifiers, max_age against the cluster's lock,\nlisteners, the rendered HAProxy configuration (haproxy -c), TLS expiry and guards. Rules are listed in docs/rules.md.",
    options: [
      ...sourceOptions,
      clusterOption,
      { name: "haproxy", value: "FILE", help: "the haproxy program (default: haproxy on the PATH)" },
    ],
    examples: [
      "rolecall doctor --config /etc/rolecall.yaml",
      "rolecall doctor --config rolecall.yaml --policy reviewed.yaml --format json",
    ],
    checks: [
      { id: "configuration", required: true },
      { id: "nodes", required: true },
      { id: "versions", required: true },
      { id: "clocks", required: true },
      { id: "identity", required: true },
      { id: "max_age", required: true },
      { id: "listeners", required: true },
      { id: "guards", required: true },
      { id: "tls", required: true },
      { id: "haproxy", required: false },
    ],
    load: async () => (await import("../doctor/doctor.ts")).doctor,
  },
  {
    name: "render",
    summary: "write ready configuration for HAProxy, Envoy, Kubernetes or Prometheus",
    about:
      "Writes ready configuration for the clusters known: those of the configuration, or those a running rolecall watches.",
    positionals: {
      usage: "haproxy|envoy|kubernetes|prometheus",
      least: 1,
      most: 1,
      choices: ["haproxy", "envoy", "kubernetes", "prometheus"],
    },
    options: [
      {
        name: "edge",
        value: "HOST:PORT",
        help: "where balancers reach rolecall's health checks (default: the first node listener, or port 8008 of the host of --server)",
      },
      {
        name: "admin",
        value: "HOST:PORT",
        help: "where Prometheus reaches rolecall's metrics (default: the first admin listener)",
      },
      { name: "bind", value: "ADDRESS", help: "where the balancer listens (default 127.0.0.1)" },
      {
        name: "write-port",
        value: "PORT",
        help: "of the first cluster's writers; each further one is 10 above (default 5000)",
      },
      { name: "read-port", value: "PORT", help: "of the first cluster's readers (default 5001)" },
      { name: "lag", value: "SIZE", help: "how far a reader may lag (default 10MB)" },
      { name: "soft", help: "HAProxy: a drained or lagging reader takes no new session and keeps those it has" },
      { name: "image", value: "NAME", help: "the image for Kubernetes (default rolecall:VERSION)" },
      clusterOption,
      ...serverOptions,
      ...sourceOptions,
    ],
    examples: [
      "rolecall render haproxy --config rolecall.yaml > haproxy.cfg",
      "rolecall render prometheus --server http://127.0.0.1:9108",
    ],
    checks: [{ id: "clusters", required: true }],
    findingsTo: "stderr",
    load: async () => (await import("../render/render.ts")).render,
  },
];
