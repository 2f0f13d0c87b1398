import type { OptionSpec } from "./command-description.ts";

/** The options of every command. */
export const commonOptions: readonly OptionSpec[] = [
  {
    name: "format",
    value: "FORMAT",
    choices: ["text", "json"],
    help: "text for people, or one cli.result/v1 document (default text)",
  },
  { name: "policy", value: "FILE", help: "reviewed dispositions of findings (YAML or JSON)" },
  {
    name: "color",
    value: "WHEN",
    choices: ["auto", "always", "never"],
    help: "when to use colours (default auto: only on a terminal)",
  },
  { name: "help", short: "h", help: "show this help" },
];

/** How to reach a running rolecall. */
export const serverOptions: readonly OptionSpec[] = [
  {
    name: "server",
    value: "URL",
    help:
      "any listener of the running rolecall: a URL or HOST:PORT " +
      "(default: that of the context, else http://127.0.0.1:8008 or :9108, as the command needs)",
  },
  { name: "context", value: "NAME", completes: "context", help: "the server of this context (rolecall context list)" },
  { name: "timeout", value: "TIME", help: "how long to wait for a response (default 10s; management calls 2min)" },
  { name: "token-file", value: "FILE", help: "a file with a bearer token" },
  { name: "user-file", value: "FILE", help: "a file with user:password" },
  { name: "ca", value: "FILE", help: "the certificate authority of the server (PEM)" },
  { name: "cert", value: "FILE", help: "the client certificate (PEM)" },
  { name: "key", value: "FILE", help: "the private key of the client certificate (PEM)" },
  { name: "insecure", help: "do not verify the certificate of the server" },
];

/** What an option with a past time allows. */
export const pastTimeHelp = "2026-11-21T03:12:00Z, 03:12 (local time), 2h or 10min ago";

/** Whom to trust where `--discover` names nodes with TLS. */
export const nodeCaOption: OptionSpec = {
  name: "node-ca",
  value: "FILE",
  help: "with --discover: the certificate authority of the nodes, if it is private (PEM)",
};

/** How to find nodes without a running rolecall. */
export const sourceOptions: readonly OptionSpec[] = [
  { name: "config", value: "FILE", help: "probe the clusters of this configuration once, from this machine" },
  {
    name: "discover",
    value: "URL[,URL]",
    multiple: true,
    help: "probe one cluster once, discovered through these nodes",
  },
  nodeCaOption,
  { name: "set", value: "PATH=VALUE", multiple: true, help: "override one configuration key; may be repeated" },
];

/** How long a command that probes the nodes itself watches them. @param fallback what happens without the option */
export function watchOption(fallback: string): OptionSpec {
  return {
    name: "for",
    value: "TIME",
    help: `with --config or --discover: how long to watch whether replicas are attached (default ${fallback})`,
  };
}

export const clusterOption: OptionSpec = {
  name: "cluster",
  value: "NAME",
  completes: "cluster",
  help: "the cluster; optional if there is only one",
};

export const nodeOption: OptionSpec = {
  name: "node",
  value: "NODE",
  completes: "node",
  help: "the node, such as pg2 or demo/pg2",
};

/** Options and words of the commands that change a cluster through its management API. */
export const yesOption: OptionSpec = {
  name: "yes",
  short: "y",
  help: "do not ask for confirmation (for scripts)",
};

/** Nothing is changed. */
export const dryRunOption: OptionSpec = {
  name: "dry-run",
  help: "report what would happen, without doing it; exit code 1 if it would be refused",
};

/** Whom such a command calls, for its description. */
export const viaGateway: string =
  "\nThe call goes through the management gateway of a running rolecall (listener option management).";
