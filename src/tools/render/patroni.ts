import { secretProblem } from "../../core/cluster/values/secret-destination.ts";
import { isLoopback } from "../../core/config/values/loopback.ts";
import type { Arguments } from "../../core/command/framework/arguments.ts";
import type { CommandContext } from "../../core/command/framework/command-context.ts";
import { CommandError } from "../../core/command/framework/command-error.ts";
import { edgesMax, hostPort, readAddressOption } from "../../core/command/render/edges.ts";
import { hintScript } from "./hint-script.ts";
import { headComments } from "../../core/command/render/member-comments.ts";
import type { Targets } from "../../core/command/render/targets.ts";

/** What the settings and the script name. */
interface HintOptions {
  readonly urls: readonly string[];
  /** Where the script is installed on the database hosts. */
  readonly script: string;
  readonly tokenFile: string;
  readonly caFile: string | null;
  /** The token that lets clients be held before the leader stops; `null`: they are not. */
  readonly pauseTokenFile: string | null;
}

/**
 * Renders the script by which Patroni announces changes of the leader, with the settings of each node as comments.
 * @throws CommandError (RC001) if an option is not valid or no admin listener is known; (RC112) if a cluster has no
 * node with an API
 */
export function renderPatroni({ args, result }: CommandContext, targets: Targets): string {
  const options = readHintOptions(args, targets);
  const empty = targets.clusters.find(({ scraped }) => scraped.every(({ api }) => api === null));
  if (empty !== undefined)
    throw new CommandError("RC112", `Cannot render: no node of ${empty.name} with an API is known`);
  if (args.list("hint-to").length === 0) diagnoseListener(result, targets, options.pauseTokenFile !== null);
  for (const url of options.urls)
    if (secretProblem("instance_token", { address: url, word: "configured" }) !== null)
      result.diagnose("RC121", { message: `${url} is not https, so the network can read the hint token` });
  const settings = targets.clusters.flatMap(({ name, scraped }) =>
    scraped.flatMap((node) => (node.api === null ? [] : settingsOf(name, node.name, options.script))),
  );
  return `${headOf(options)}${commentBlock(targets)}${settings.join("")}\n${hintScript(options)}`;
}

function commentBlock(targets: Targets): string {
  return ["#", ...headComments(targets)].map((line) => `${line}\n`).join("");
}

function headOf({ script, tokenFile, urls, pauseTokenFile }: HintOptions): string {
  const listeners = `the admin listener${urls.length === 1 ? "" : "s"} ${urls.join(" ")}`;
  return `#!/bin/sh
# Rendered by rolecall: announces changes of the leader, so that rolecall probes at once (docs/reaction-time.md).
# Patroni adds the event, the role and the scope to the command of a callback.
#
# 1. Install this file as ${script} on every database host, executable by the user of Patroni.
# 2. Write a hint token into ${tokenFile}, readable by that user only. The same token is in a file of
#    hint_tokens of ${listeners}
${pauseTokenFile === null ? "" : pauseText(pauseTokenFile, listeners)}# 3. Try it: ${script} CLUSTER NODE test
# 4. Add these settings to the Patroni configuration of each node, and reload Patroni. Patroni 3.0 ignores before_stop.
`;
}

/** before_stop runs in each demotion, restart and shutdown of the leader; its exit code has no effect. */
function pauseText(file: string, listeners: string): string {
  return `#    Write another token into ${file}, readable by that user only. The same token is in a file
#    of before_stop_tokens, for the cluster, of ${listeners}
#    before_stop is no callback: Patroni waits for the script before it stops PostgreSQL. The first rolecall that can
#    holds the clients of the poolers of the cluster (docs/switchover.md). After 1 s Patroni goes on in any case.
`;
}

function settingsOf(cluster: string, node: string, script: string): string {
  const command = `${script} ${cluster} ${node}`;
  return `#
# cluster ${cluster}, node ${node}:
#   postgresql:
#     callbacks:
#       on_role_change: ${command}
#       on_stop: ${command}
#     before_stop: ${command} before_stop
`;
}

function diagnoseListener(
  result: CommandContext["result"],
  { hintListener, clusters }: Targets,
  mustHold: boolean,
): void {
  if (hintListener === null) return;
  const missing = mustHold ? clusters.filter(({ name }) => !hintListener.mayHold.includes(name)) : [];
  for (const { name } of missing)
    result.diagnose("RC120", {
      message: `the admin listener has no before_stop_tokens for ${name}`,
      action: "Set listen[].before_stop_tokens, or --pause holds no clients.",
    });
  if (!hintListener.hasTokens)
    result.diagnose("RC120", {
      message: "no admin listener of the configuration has hint_tokens",
      action: "Set listen[].hint_tokens, or the script is answered 401 or needs no token.",
    });
  if (isLoopback(hostOf(hintListener.url)))
    result.diagnose("RC120", {
      message: `${hintListener.url} cannot be reached from other machines`,
      action: "Let an admin listener with TLS, read_only and hint_tokens listen on an address that they reach.",
    });
}

function readHintOptions(args: Arguments, { hintListener }: Targets): HintOptions {
  const given = args.list("hint-to").flatMap((value) => value.split(","));
  if (given.length === 0 && hintListener === null)
    throw new CommandError("RC001", "--hint-to must name the admin listener of each rolecall, as https://HOST:PORT");
  if (given.length > edgesMax)
    throw new CommandError("RC001", `--hint-to must be given at most ${edgesMax} times, got ${given.length} addresses`);
  const urls = given.length === 0 ? [hintListener?.url ?? ""] : given.map((text) => readHintUrl(text.trim()));
  const duplicate = urls.find((url, index) => urls.indexOf(url) < index);
  if (duplicate !== undefined)
    throw new CommandError("RC001", `--hint-to must be a different address each time, got ${duplicate} twice`);
  return {
    urls,
    script: readPath(args, "hint-script") ?? "/etc/patroni/rolecall-hint",
    tokenFile: readPath(args, "hint-token-file") ?? "/etc/patroni/rolecall-hint.token",
    caFile: readPath(args, "hint-ca"),
    pauseTokenFile: args.has("pause")
      ? (readPath(args, "pause-token-file") ?? "/etc/patroni/rolecall-pause.token")
      : null,
  };
}

/** Reads `http://HOST:PORT` or `https://HOST:PORT`. The text goes into a shell script. */
function readHintUrl(text: string): string {
  const [, scheme, address] = /^(https?):\/\/([^/]+)\/?$/i.exec(text) ?? [];
  if (scheme === undefined || address === undefined)
    throw new CommandError(
      "RC001",
      `--hint-to must be http://HOST:PORT or https://HOST:PORT, got ${JSON.stringify(text)}`,
    );
  return `${scheme.toLowerCase()}://${hostPort(readAddressOption("hint-to", address))}`;
}

/** Reads a file name that needs no quoting in a shell or in YAML; `null` if the option was not given. */
function readPath(args: Arguments, option: string): string | null {
  const text = args.text(option);
  if (text !== null && !/^\/[\w./-]{1,250}$/.test(text))
    throw new CommandError(
      "RC001",
      `--${option} must be an absolute path of letters, digits and _ . / -, got ${JSON.stringify(text)}`,
    );
  return text;
}

function hostOf(url: string): string {
  return new URL(url).hostname.replace(/^\[|\]$/g, "");
}
