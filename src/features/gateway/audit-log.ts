import type { AuditRecord } from "./audit-record.ts";
import type { Logger } from "../../core/log/logger.ts";

/** Writes the one log line of a management call: who, from where, what, to which node, and how it ended. */
export function logManagementCall(log: Logger, record: AuditRecord): void {
  const { requestId, durationMs, method, call, ...rest } = record;
  const fields = { ...rest, call: `${method} /${call}`, duration_ms: Math.round(durationMs), request_id: requestId };
  log.info(fields, "management call");
}
