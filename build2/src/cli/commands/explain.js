import { CommandError } from "../framework/command-error.js";
import { diagnoseUnknown, notKnown, probedStatus } from "../client/attachment.js";
import { parseCheckOption, requireRoute } from "../client/check-option.js";
import { fetchNodeExplanation } from "../client/explanations.js";
import { explainProbedNode } from "../client/probed-explanation.js";
import { seeReasons } from "../client/next-command.js";
import { resolveName } from "../client/node-name.js";
import { attachmentTime, watchLocally } from "../client/local-probe.js";
import { isLocal, requireConfig, fetchStatusFrom } from "../client/cluster-status.js";
import { RolecallClient } from "../client/rolecall-client.js";
import { renderExplanation } from "../output/explanation.js";
import { remedyOf } from "../output/remedies.js";
/**
 * `rolecall explain CHECK [--node NODE]`: explains the verdict rule by rule; without a node, that of each node of the
 * cluster. Unfit is a finding (RC030, exit code 1).
 */
export async function explainCheck(context) {
    const { args } = context;
    const [text = ""] = args.positionals;
    const check = text.startsWith("/") ? text : `/${text}`;
    const node = args.text("node");
    if (node === null)
        return (await import("./explain-cluster.js")).explainCluster(context, check);
    const given = { cluster: args.text("cluster"), node };
    const explanation = await (isLocal(context)
        ? explainLocally(context, check, given)
        : fetchExplanation(context, check, given));
    report(context, check, explanation);
}
function report({ result, print, style }, check, explanation) {
    result.cover("rules", "complete", { detail: `${explanation.rules.length} rules` });
    result.data = explanation;
    print(renderExplanation(explanation, style));
    if (explanation.fit === null)
        diagnoseUnknown(result, `${explanation.cluster}/${explanation.node} for ${check}`, explanation.detail ?? "seen once");
    if (explanation.fit === false) {
        const remedy = remedyOf(explanation.reason ?? "");
        const see = seeReasons([explanation.reason]);
        result.diagnose("RC030", {
            message: `${explanation.cluster}/${explanation.node} is unfit for ${check}: ${explanation.reason}`,
            action: `The rule marked NO decides.${remedy === null ? "" : ` To be fit, ${remedy}.`}${see === "" ? "" : `\n  ${see}`}`,
        });
    }
}
async function fetchExplanation(context, check, given) {
    requireRoute(check);
    const server = new RolecallClient(context, "admin");
    const { cluster, node } = resolveName(await fetchStatusFrom(server), given);
    return fetchNodeExplanation(server, { cluster, check }, node ?? "");
}
async function explainLocally(context, check, given) {
    const config = requireConfig(context);
    const parsed = parseCheckOption(check, config.ignoreParams);
    const explainNow = (probed) => explainProbed(probed, { check, parsed, given });
    const probed = await watchLocally(config, context, {
        defaultMs: attachmentTime(config),
        isDone: (sofar) => explainNow(sofar).attachment !== notKnown,
        onInterrupt: (sofar) => report(context, check, explainNow(sofar)),
    });
    return explainNow(probed);
}
function explainProbed(probed, { check, parsed, given }) {
    const target = resolveName(probedStatus(probed), given);
    const observation = probed.cluster(target.cluster)?.nodes.find(({ node }) => node.name === target.node);
    if (observation === undefined)
        throw new CommandError("RC001", `There is no node ${target.node}`);
    return {
        cluster: target.cluster,
        check,
        ...explainProbedNode(probed, target.cluster, { observation, check: parsed }),
    };
}
//# sourceMappingURL=explain.js.map