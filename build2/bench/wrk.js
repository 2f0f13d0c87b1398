/** Load by wrk. It waits for the body of an answer to HEAD, so it sends none. */
import { outputOf, withFile } from "./driver.js";
/**
 * Makes wrk count answers by status: by itself it counts only those other than 2xx and 3xx. Globals belong to one
 * thread; `get` reads them.
 */
const statusScript = `local threads = {}
setup = function(thread) table.insert(threads, thread) end
init = function() strange = 0 end
response = function(status) if status ~= 503 and (status < 200 or status > 299) then strange = strange + 1 end end
done = function()
  local sum = 0
  for _, thread in ipairs(threads) do sum = sum + thread:get("strange") end
  io.write("Strange: " .. sum .. "\\n")
end
`;
/** Sends requests at full speed. */
export function loadByWrk(asked) {
    const script = asked.targets === undefined ? (asked.readsStatuses === true ? statusScript : null) : targetScript(asked.targets);
    return script === null ? run(asked, []) : withFile(script, (file) => run(asked, ["-s", file]));
}
/** The requests are rendered once, and sent in turn. */
function targetScript(targets) {
    const list = targets.map(({ method, path }) => `{${JSON.stringify(method)},${JSON.stringify(path)}}`);
    return `local targets = {${list.join(",")}}
local at, written = 0, {}
init = function() for i, target in ipairs(targets) do written[i] = wrk.format(target[1], target[2]) end end
request = function() at = at % #written + 1 return written[at] end
`;
}
async function run({ url, seconds, connections, isNew = false }, script) {
    const how = ["-t1", `-c${connections}`, `-d${seconds}s`, ...script, ...(isNew ? ["-H", "Connection: close"] : [])];
    return readWrk(await outputOf(["wrk", ...how, url], seconds));
}
/** Reads what wrk writes at its end. */
export function readWrk(output) {
    const count = (pattern) => (pattern.exec(output) ?? []).slice(1).reduce((sum, each) => sum + Number(each), 0);
    const unanswered = count(/Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)/);
    return {
        answersPerSecond: Number(/Requests\/sec:\s+([\d.]+)/.exec(output)?.[1]),
        failures: count(/Non-2xx or 3xx responses: (\d+)/) + unanswered,
        unanswered,
        strange: count(/Strange: (\d+)/),
    };
}
//# sourceMappingURL=wrk.js.map