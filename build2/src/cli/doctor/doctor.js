import { configFrom, sourcesOf } from "../client/configuration.js";
import { probedStatus } from "../client/attachment.js";
import { probeLocally } from "../client/local-probe.js";
import { table } from "../output/table.js";
import { checkClocks } from "./clocks.js";
import { diagnoseBalancers } from "./balancers.js";
import { checkDcs } from "./dcs.js";
import { checkGuards, checkMaxAge } from "./guards.js";
import { checkHaproxy } from "./haproxy.js";
import { checkListenerPorts } from "./listeners.js";
import { checkIdentity, checkNodes, checkPasswordProtection, checkVersions } from "./nodes.js";
import { checkTls } from "./tls.js";
/**
 * `rolecall doctor`: checks a whole setup. Each check covers its own entry; docs/rules.md lists the rules of findings.
 */
export async function doctor(command) {
    const { args, io, result, progress } = command;
    const config = configFrom(sourcesOf(args, io.env), result);
    result.cover("configuration", "complete", { detail: args.text("config") ?? "command line" });
    if (config === null)
        return printCoverage(command);
    // checkTls reports problems with TLS files.
    const probed = await probeLocally(config, { progress, result: { diagnose: () => { } } });
    const context = { command, config, probed };
    checkNodes(context);
    checkVersions(context);
    checkIdentity(context);
    checkPasswordProtection(context);
    checkMaxAge(context);
    checkGuards(context);
    progress.report("checking clocks, certificates, listeners, balancers and the DCS");
    const checks = [checkClocks, checkTls, checkListenerPorts, diagnoseBalancers, checkDcs];
    await Promise.all(checks.map((check) => check(context)));
    progress.report("running haproxy -c");
    await checkHaproxy(context);
    progress.done();
    result.data = { clusters: probedStatus(probed).clusters };
    printCoverage(command);
}
function printCoverage({ result, print, style }) {
    const { coverage } = result.build();
    const paint = {
        complete: style.green,
        not_checked: style.red,
        incomplete: style.red,
        unsupported: style.yellow,
        not_applicable: style.dim,
    };
    print(table(["CHECK", "STATUS", "DETAIL"], coverage.map(({ id, status, detail }) => [
        { text: id },
        { text: status, paint: paint[status] },
        { text: detail },
    ])));
}
//# sourceMappingURL=doctor.js.map