import { isObject, listOf, type JsonObject } from "../../core/cluster/values/json.ts";
import { fetchStatusFrom } from "../../core/command/client/cluster-status.ts";
import { RolecallClient } from "../../core/command/client/rolecall-client.ts";
import { withDeadline } from "../../core/command/client/deadline.ts";
import { requireContexts } from "../../core/command/connect/connection.ts";
import { serverOptions } from "../../core/command/framework/options.ts";
import { parseArguments } from "../../core/command/framework/arguments.ts";
import type { CommandContext } from "../../core/command/framework/command-context.ts";
import { ResultBuilder } from "../../core/command/result/builder.ts";

/** How long a shell may wait for names, in ms. On a busy machine the first request takes hundreds of ms. */
const deadlineMs = 1_000;

/**
 * `rolecall __complete node|cluster|member|context`: prints names for the shell. Always succeeds and writes nothing to stderr,
 * because an error would appear in the middle of the command line that the user is typing.
 */
export async function complete(context: CommandContext): Promise<void> {
  const [kind = "", line = ""] = context.args.positionals;
  // The findings of the client, such as a warning about a file, must not reach the prompt.
  const result = new ResultBuilder({ version: "", command: "" }, []);
  try {
    const lineContext = { ...context, result, args: argumentsOf(line, context.io.env["HOME"] ?? "") };
    const names =
      kind === "context" ? contextNames(lineContext) : await namesFromServer(lineContext, kind, isQualified(line));
    context.result.data = { names };
    context.print(
      names
        .filter(isPlain)
        .map((name) => `${name}\n`)
        .join(""),
    );
  } catch {
    context.result.data = { names: [] };
  }
}

/** The options on an unfinished command line that select the server. Its other words are ignored. */
function argumentsOf(line: string, home: string): CommandContext["args"] {
  const words = [...line.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(
    ([, single, double, plain]) => single ?? double ?? (plain ?? "").replace(/^~(?=\/)/, home),
  );
  const positionals = { usage: "WORD...", least: 0, most: Infinity };
  return parseArguments({ name: "__complete", positionals, options: serverOptions }, words.slice(1)).args;
}

function contextNames({ io, result }: CommandContext): readonly string[] {
  return requireContexts({ io, result }).contexts.map(({ name }) => name);
}

/** Whether the last word of an unfinished command line begins with a cluster, as `demo/` or `demo/p`. */
function isQualified(line: string): boolean {
  return /(?:^|[\s='"])[^\s='"/:]+\/[^\s/]*$/.test(line);
}

/**
 * The names of the clusters, nodes or members of the fleet that the server knows.
 * @param qualified whether to name every node as `CLUSTER/NODE`, even one whose name is unique
 */
async function namesFromServer(context: CommandContext, kind: string, qualified: boolean): Promise<readonly string[]> {
  return withDeadline(deadlineMs, [context.signal], async (signal) => {
    const server = new RolecallClient({ ...context, signal }, "admin");
    if (kind === "member") return memberNames(await server.getObject("/fleet"));
    const { clusters } = await fetchStatusFrom(server);
    if (kind === "cluster") return clusters.map(({ cluster }) => cluster);
    const isUnique = (name: string): boolean =>
      clusters.filter(({ nodes }) => nodes.some(({ node }) => node === name)).length === 1;
    return clusters.flatMap(({ cluster, nodes }) =>
      nodes.map(({ node }) => (isUnique(node) && !qualified ? node : `${cluster}/${node}`)),
    );
  });
}

function memberNames({ fleet }: JsonObject): readonly string[] {
  const members = isObject(fleet) ? listOf(fleet["members"]).filter(isObject) : [];
  return members.map(({ id }) => (typeof id === "string" ? id : ""));
}

/** Names from a server end up in a shell: only those that need no quotes are completed. */
function isPlain(name: string): boolean {
  return /^[\w./:@-]+$/.test(name);
}
