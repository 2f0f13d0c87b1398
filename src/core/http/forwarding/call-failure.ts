/** The code of an error, or its message where it has none. */
export function errorCode(error: Error): string {
  return "code" in error && typeof error.code === "string" ? error.code : error.message;
}

/** Whether an error with this code says that a call never reached the node: without a connection it cannot have. */
export function neverArrived(code: string): boolean {
  return /^(ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|ERR_(SSL|TLS)_|.*CERT|SELF_SIGNED|UNABLE_TO)/.test(
    code,
  );
}
