import { isObject, parseJson, type JsonObject } from "../../../core/cluster/values/json.ts";
import { readYamlFile } from "../../../core/config/sources/yaml-file.ts";
import { CommandError } from "../../../core/command/framework/command-error.ts";
import { confirm } from "../../../core/command/framework/confirm.ts";
import { clusterPath, callManagementApi, managementTimeout } from "../../../core/command/client/management-call.ts";
import { namedCluster } from "../../../core/command/client/named-target.ts";
import { RolecallClient } from "../../../core/command/client/rolecall-client.ts";
import type { CommandContext } from "../../../core/command/framework/command-context.ts";

/** `rolecall cluster config`: shows the dynamic configuration; `--set` and `--patch` merge into it, `--replace` replaces it. */
export async function dynamicConfig(context: CommandContext): Promise<void> {
  const { args, result, print } = context;
  const server = new RolecallClient(context, "node", managementTimeout);
  const path = clusterPath(namedCluster(context), "config");
  const [patch, replacement] = [args.text("patch"), args.text("replace")];
  const assignments = args.list("set");
  if (replacement !== null && (patch !== null || assignments.length > 0))
    throw new CommandError("RC001", "--replace cannot be used with --set or --patch");
  if (replacement !== null) {
    const body = readObject(replacement);
    await confirm(context, `This replaces the whole dynamic configuration with the content of ${replacement}`);
    return callManagementApi(context, server, {
      method: "PUT",
      path,
      body,
      purpose: `replace the whole dynamic configuration with the content of ${replacement}`,
    });
  }
  if (patch === null && assignments.length === 0) {
    const current = await server.getObject(path);
    result.cover("call", "complete", { detail: `GET ${path}` });
    result.data = current;
    return print(`${JSON.stringify(current, null, 2)}\n`);
  }
  const body = assignments.reduce(withAssignment, patch === null ? {} : readObject(patch));
  const what = `${JSON.stringify(body)} into the dynamic configuration`;
  await confirm(context, `This merges ${what}`);
  return callManagementApi(context, server, { method: "PATCH", path, body, purpose: `merge ${what}` });
}

/**
 * Adds `postgresql.parameters.work_mem=null` to a document. The value is parsed as JSON if possible, else taken as
 * text.
 */
function withAssignment(body: JsonObject, assignment: string): JsonObject {
  const equals = assignment.indexOf("=");
  const path = equals < 1 ? [] : assignment.slice(0, equals).split(".");
  if (path.length === 0 || path.includes(""))
    throw new CommandError("RC001", `--set must be PATH=VALUE, such as ttl=20, got ${JSON.stringify(assignment)}`);
  const text = assignment.slice(equals + 1);
  return withValueAt(body, path, parseJson(text) ?? (text === "null" ? null : text));
}

function withValueAt(body: JsonObject, [key = "", ...rest]: readonly string[], value: unknown): JsonObject {
  const inner = Object.hasOwn(body, key) ? body[key] : undefined;
  // A computed key in an object literal is always an own property, even `__proto__`.
  return { ...body, [key]: rest.length === 0 ? value : withValueAt(isObject(inner) ? inner : {}, rest, value) };
}

function readObject(file: string): JsonObject {
  const { value, problems } = readYamlFile(file);
  const [problem] = problems;
  if (problem !== undefined) throw new CommandError("RC006", `${problem.where}: ${problem.message}`);
  if (!isObject(value) || Object.keys(value).length === 0)
    throw new CommandError("RC006", `Cannot use ${file}: it must be a mapping with at least one key`);
  return value;
}
