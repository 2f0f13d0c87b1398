import { isObject, parseJson, type JsonObject } from "../../cluster/values/json.ts";
import { readYamlFile } from "../../config/sources/yaml-file.ts";
import { CommandError } from "../framework/command.ts";
import { confirm } from "../framework/confirm.ts";
import { clusterPath, callManagement, patience } from "../client/management-call.ts";
import { Server } from "../client/server.ts";
import type { CommandContext } from "../framework/command-context.ts";

/** `rolecall config`: shows the cluster's dynamic configuration; `--set` and `--patch` merge into it, `--replace` rewrites it. */
export async function dynamicConfig(context: CommandContext): Promise<void> {
  const { args, result, print } = context;
  const server = new Server(context, "node", patience);
  const path = clusterPath(context, "config");
  const [patch, replacement] = [args.text("patch"), args.text("replace")];
  const assignments = args.list("set");
  if (replacement !== null && (patch !== null || assignments.length > 0))
    throw new CommandError("RC001", "--replace cannot be given with --set or --patch");
  if (replacement !== null) {
    const body = readObject(replacement);
    await confirm(context, `The whole dynamic configuration is replaced by ${replacement}`);
    return callManagement(context, server, { method: "PUT", path, body });
  }
  if (patch === null && assignments.length === 0) {
    const known = await server.getObject(path);
    result.cover("call", "complete", { detail: `GET ${path}` });
    result.data = known;
    return print(`${JSON.stringify(known, null, 2)}\n`);
  }
  const body = assignments.reduce(withAssignment, patch === null ? {} : readObject(patch));
  await confirm(context, `The dynamic configuration is changed by ${JSON.stringify(body)}`);
  return callManagement(context, server, { method: "PATCH", path, body });
}

/** `postgresql.parameters.work_mem=null`: the value is JSON where it can be read so, else text. */
function withAssignment(body: JsonObject, assignment: string): JsonObject {
  const equals = assignment.indexOf("=");
  const path = equals < 1 ? [] : assignment.slice(0, equals).split(".");
  if (path.length === 0 || path.includes(""))
    throw new CommandError("RC001", `--set must be PATH=VALUE, such as ttl=20: it is ${JSON.stringify(assignment)}`);
  const text = assignment.slice(equals + 1);
  return placed(body, path, parseJson(text) ?? (text === "null" ? null : text));
}

function placed(body: JsonObject, [key = "", ...rest]: readonly string[], value: unknown): JsonObject {
  const inner = Object.hasOwn(body, key) ? body[key] : undefined;
  // A computed key in a literal is always an own property, whatever its name.
  return { ...body, [key]: rest.length === 0 ? value : placed(isObject(inner) ? inner : {}, rest, value) };
}

function readObject(file: string): JsonObject {
  const { value, problems } = readYamlFile(file);
  const [problem] = problems;
  if (problem !== undefined) throw new CommandError("RC006", `${problem.where}: ${problem.message}`);
  if (!isObject(value) || Object.keys(value).length === 0)
    throw new CommandError("RC006", `${file} must hold a mapping with at least one key`);
  return value;
}
