/** What an error of a connection means for people; `null` for one without words of its own. */
export function socketProblem({ code }: NodeJS.ErrnoException): string | null {
  if (code === "ENOENT") return "the socket does not exist (ENOENT)";
  if (code === "EACCES") return "the permissions of the socket do not let rolecall use it (EACCES)";
  if (code === "UND_ERR_HEADERS_TIMEOUT") return "it does not answer in time";
  return code === "ECONNREFUSED" ? "the connection was refused (ECONNREFUSED)" : null;
}
