import type { OptionSpec } from "./command.ts";

/** What every command takes. */
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
    help: "colour: on a terminal only, unless said (default auto)",
  },
  { name: "help", short: "h", help: "this text" },
];

/** How a running rolecall is reached. */
export const serverOptions: readonly OptionSpec[] = [
  {
    name: "server",
    value: "URL",
    help: "the running rolecall (default http://127.0.0.1:8008; for status, explain, render and drains the admin listener http://127.0.0.1:9108)",
  },
  { name: "timeout", value: "TIME", help: "how long to wait for its answer (default 10s; management calls 2min)" },
  { name: "token-file", value: "FILE", help: "a file that holds a bearer token" },
  { name: "user-file", value: "FILE", help: "a file that holds user:password" },
  { name: "ca", value: "FILE", help: "who signs its certificate (PEM)" },
];

/** How nodes are found when rolecall is not asked. */
export const sourceOptions: readonly OptionSpec[] = [
  { name: "config", value: "FILE", help: "probe the clusters of this configuration once, here" },
  { name: "discover", value: "URL[,URL]", multiple: true, help: "probe one cluster once, found through these nodes" },
  { name: "set", value: "PATH=VALUE", multiple: true, help: "one setting of the configuration; may be repeated" },
];

export const clusterOption: OptionSpec = {
  name: "cluster",
  value: "NAME",
  help: "the cluster; not needed where there is one",
};

export const nodeOption: OptionSpec = { name: "node", value: "NODE", help: "the node, as pg2 or demo/pg2" };
