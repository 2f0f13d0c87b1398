/** The rows of test/spec/cli/rendered.yaml, rendered. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { runText } from "./command-line.js";
export const renderedSpec = parse(readFileSync(join("test", "spec", "cli", "rendered.yaml"), "utf8"));
/**
 * Renders a configuration for clusters of the table.
 * @param folder where the configuration of rolecall is written; `ca.pem` there is the CA of the clusters that have one
 */
export function renderClusters(folder, { kind, clusters, args, listen }) {
    const config = join(folder, "rolecall.yaml");
    const text = JSON.stringify({ clusters: renderedSpec.clusters[clusters], listen }); // JSON is YAML
    writeFileSync(config, text.replaceAll('"CA"', JSON.stringify(join(folder, "ca.pem"))));
    return runText(["render", kind, "--config", config, ...args]);
}
//# sourceMappingURL=rendered-rows.js.map