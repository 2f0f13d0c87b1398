import { fetchStatusFrom } from "../client/cluster-status.js";
import { RolecallClient } from "../client/rolecall-client.js";
import { withDeadline } from "../client/deadline.js";
import { requireContexts } from "../connect/connection.js";
import { serverOptions } from "../framework/options.js";
import { parseArguments } from "../framework/parse-arguments.js";
import { ResultBuilder } from "../result/builder.js";
/** How long a shell may wait for names, in ms. */
const deadlineMs = 300;
/**
 * `rolecall __complete node|cluster|context`: prints names for the shell. Always succeeds and writes nothing to stderr:
 * an error in the middle of a prompt helps nobody.
 */
export async function complete(context) {
    const [kind = "", line = ""] = context.args.positionals;
    // The findings of the client, such as a warning about a file, must not reach the prompt.
    const result = new ResultBuilder({ version: "", command: "" }, []);
    try {
        const completed = { ...context, result, args: argumentsOf(line, context.io.env["HOME"] ?? "") };
        const names = kind === "context" ? contextNames(completed) : await serverNames(completed, kind, isQualified(line));
        context.result.data = { names };
        context.print(names
            .filter(isPlain)
            .map((name) => `${name}\n`)
            .join(""));
    }
    catch {
        context.result.data = { names: [] };
    }
}
/** The options for the server on an unfinished command line. Whatever else is there does not matter. */
function argumentsOf(line, home) {
    const words = [...line.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(([, single, double, plain]) => single ?? double ?? (plain ?? "").replace(/^~(?=\/)/, home));
    const positionals = { usage: "WORD...", least: 0, most: Infinity };
    return parseArguments({ name: "__complete", positionals, options: serverOptions }, words.slice(1)).args;
}
function contextNames({ io, result }) {
    return requireContexts({ io, result }).contexts.map(({ name }) => name);
}
/** Whether the last word of an unfinished command line names a node with its cluster: `demo/`. */
function isQualified(line) {
    return /(?:^|[\s='"])[^\s='"/:]+\/[^\s/]*$/.test(line);
}
async function serverNames(context, kind, qualified) {
    return withDeadline(deadlineMs, [context.signal], async (signal) => {
        const { clusters } = await fetchStatusFrom(new RolecallClient({ ...context, signal }, "admin"));
        if (kind === "cluster")
            return clusters.map(({ cluster }) => cluster);
        const isUnique = (name) => clusters.filter(({ nodes }) => nodes.some(({ node }) => node === name)).length === 1;
        return clusters.flatMap(({ cluster, nodes }) => nodes.map(({ node }) => (isUnique(node) && !qualified ? node : `${cluster}/${node}`)));
    });
}
/** Names from a server end up in a shell: only those that need no quotes are completed. */
function isPlain(name) {
    return /^[\w./:@-]+$/.test(name);
}
//# sourceMappingURL=complete.js.map