import { exporterRoles, type ExporterRole } from "../../cluster/exporter/exporter-report.ts";
import type { RoleRequest } from "../message/exporter-paths.ts";
import type { Reply } from "../message/reply.ts";

const phrases: ReadonlyMap<number, string> = new Map([
  [200, "OK"],
  [404, "Not Found"],
  [405, "Method Not Allowed"],
  [500, "Internal Server Error"],
  [503, "Service Unavailable"],
]);

/** A plain answer of the exporter dialect: every method gets what GET gets, OPTIONS its body too. */
export function plainReply(
  status: number,
  body: string,
  rest: { readonly type?: string; readonly allow?: string } = {},
): Reply {
  return {
    status,
    phrase: phrases.get(status) ?? "",
    headers: [
      "Cache-Control",
      "no-store",
      "Content-Type",
      rest.type ?? "text/plain; charset=utf-8",
      ...(rest.allow === undefined ? [] : ["Allow", rest.allow]),
    ],
    body: Buffer.from(body),
    hasOptionsBody: true,
  };
}

/** The status of a role question in a role state (seeds/exporter-api.md, "States and transitions"). */
export function roleStatus(question: RoleRequest, state: ExporterRole): number {
  if (state !== "primary" && state !== "replica") return 503;
  return question === "up" || question === state ? 200 : 404;
}

/** There are only fifteen different answers, so they are made once. */
const roleReplies: ReadonlyMap<string, Reply> = new Map(
  (["up", "primary", "replica"] as const).flatMap((question) =>
    exporterRoles.map((state): [string, Reply] => [
      `${question} ${state}`,
      plainReply(roleStatus(question, state), state),
    ]),
  ),
);

/** The answer to a role question: the body is the state itself, without a newline, whatever was asked. */
export function roleReply(question: RoleRequest, state: ExporterRole): Reply {
  return roleReplies.get(`${question} ${state}`) ?? plainReply(503, state);
}

/** The landing page: one line of HTML with a link to the metrics. */
export function landingReply(telemetryPath: string): Reply {
  const link = telemetryPath.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
  const body = `<html><head><title>rolecall</title></head><body><h1>rolecall</h1><p><a href='${link}'>Metrics</a></p></body></html>`;
  return plainReply(200, body, { type: "text/html; charset=UTF-8" });
}
