import type { CommandSpec } from "../framework/command.ts";
import { clusterOption, sourceOptions } from "../framework/options.ts";
import { renderCommand } from "./render.ts";

/** Commands that check a setup or write configuration for other programs. */
export const setupCommands: readonly CommandSpec[] = [
  {
    name: "validate",
    summary: "validate a configuration and list every problem with its line",
    about:
      "Reads a configuration and reports every problem with it, and with the certificates, keys and token files that\n" +
      "it names. Environment variables apply as they do for serve.",
    positionals: { usage: "FILE", least: 1, most: 1, completes: "file" },
    options: [
      { name: "set", value: "PATH=VALUE", multiple: true, help: "override one key of the file; may be repeated" },
      { name: "no-files", help: "do not read certificates, keys and tokens: on a machine that has none of them" },
    ],
    examples: ["rolecall validate /etc/rolecall/rolecall.yaml"],
    checks: [
      { id: "configuration", required: true },
      { id: "files", required: false },
    ],
    load: async () => (await import("../commands/validate.ts")).validate,
  },
  {
    name: "doctor",
    summary: "check a whole setup: configuration, nodes, clocks, TLS, listeners",
    about:
      "Checks the configuration, every node, versions, clocks, scopes and system identifiers, max_age against the\n" +
      "leader lock, listeners, balancers, the rendered HAProxy configuration (haproxy -c), TLS expiry and guards.\n" +
      "docs/rules.md lists the rules.",
    options: [
      ...sourceOptions,
      clusterOption,
      { name: "haproxy", value: "FILE", help: "the haproxy executable (default: haproxy on the PATH)" },
    ],
    examples: [
      "rolecall doctor --config /etc/rolecall/rolecall.yaml",
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
      { id: "balancers", required: false },
      { id: "haproxy", required: false },
    ],
    load: async () => (await import("../doctor/doctor.ts")).doctor,
  },
  renderCommand,
];
