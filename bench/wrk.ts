/** Storms by wrk. It waits for the body of the answer to a HEAD, which never comes: no HEAD by it. */
import { outputOf, withFile } from "./driver.ts";
import type { Storm, Target, Weather } from "./weather.ts";

/** wrk tells only how many answers were not 2xx or 3xx; this has it count by status. Its globals are one thread's, read through `get`. */
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

/** Asks as fast as answers come. */
export function stormByWrk(asked: Storm): Promise<Weather> {
  const script =
    asked.targets === undefined ? (asked.readsStatuses === true ? statusScript : null) : targetScript(asked.targets);
  return script === null ? blow(asked, []) : withFile(script, (file) => blow(asked, ["-s", file]));
}

/** The questions are written once, and sent in turn. */
function targetScript(targets: readonly Target[]): string {
  const list = targets.map(({ method, path }) => `{${JSON.stringify(method)},${JSON.stringify(path)}}`);
  return `local targets = {${list.join(",")}}
local at, written = 0, {}
init = function() for i, target in ipairs(targets) do written[i] = wrk.format(target[1], target[2]) end end
request = function() at = at % #written + 1 return written[at] end
`;
}

async function blow({ url, seconds, connections, isNew = false }: Storm, script: readonly string[]): Promise<Weather> {
  const how = ["-t1", `-c${connections}`, `-d${seconds}s`, ...script, ...(isNew ? ["-H", "Connection: close"] : [])];
  return readWrk(await outputOf(["wrk", ...how, url], seconds));
}

/** Reads what wrk writes at its end. */
export function readWrk(said: string): Weather {
  const count = (pattern: RegExp): number =>
    (pattern.exec(said) ?? []).slice(1).reduce((sum, each) => sum + Number(each), 0);
  const unanswered = count(/Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)/);
  return {
    answersPerSecond: Number(/Requests\/sec:\s+([\d.]+)/.exec(said)?.[1]),
    failures: count(/Non-2xx or 3xx responses: (\d+)/) + unanswered,
    unanswered,
    strange: count(/Strange: (\d+)/),
  };
}
