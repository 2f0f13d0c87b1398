/** config/examples/haproxy.cfg, filled in for the lab: what operators copy is what the tests run. */
import { readFileSync } from "node:fs";
import { ports } from "./ports.js";
/**
 * The example with the lab's addresses in the place of its own.
 * @throws Error naming an address that the example does not have, or has left
 */
export function filledExample({ nodes }, socket) {
    const direct = nodes.map(({ databasePort, apiPort }, at) => [
        `10.0.0.${at + 1}:5432 port 8008`,
        `127.0.0.1:${databasePort} port ${apiPort}`,
    ]);
    const databases = nodes.map(({ databasePort }, at) => [
        `10.0.0.${at + 1}:5432`,
        `127.0.0.1:${databasePort}`,
    ]);
    const others = [
        ["/run/haproxy/admin.sock", socket],
        ["10.0.0.11:8008", `127.0.0.1:${ports.rolecall}`],
        ["10.0.0.12:8008", `127.0.0.1:${ports.rolecall2}`],
        ["127.0.0.1:8007", `127.0.0.1:${ports.haproxyChecks}`],
        ["addr 127.0.0.1 port 8007", `addr 127.0.0.1 port ${ports.haproxyChecks}`],
        ["bind :5000", `bind 127.0.0.1:${ports.haproxyWrite}`],
        ["bind :5001", `bind 127.0.0.1:${ports.haproxyRead}`],
    ];
    const example = readFileSync("config/examples/haproxy.cfg", "utf8").replaceAll(/^ *#.*\n/gm, "");
    const filled = [...direct, ...databases, ...others].reduce((text, [from, to]) => {
        if (!text.includes(from))
            throw new Error(`Cannot fill config/examples/haproxy.cfg: it must hold ${from}`);
        return text.replaceAll(from, to);
    }, example);
    const left = /.*(10\.0\.0\.|:50\d\d).*/.exec(filled);
    if (left !== null)
        throw new Error(`Cannot fill config/examples/haproxy.cfg: nothing is known for ${left[0].trim()}`);
    return filled;
}
//# sourceMappingURL=example.js.map