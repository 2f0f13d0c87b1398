/**
 * The environment variables that set options of commands which query a running rolecall, by option. They are not part
 * of the configuration of a service, which accepts them and ignores them.
 */
export const clientVariables = {
  server: "ROLECALL_SERVER",
  context: "ROLECALL_CONTEXT",
  timeout: "ROLECALL_TIMEOUT",
  "token-file": "ROLECALL_TOKEN_FILE",
  "user-file": "ROLECALL_USER_FILE",
  ca: "ROLECALL_CA",
  cert: "ROLECALL_CERT",
  key: "ROLECALL_KEY",
} as const;

/** Names the contexts file, if it is not in its default place. */
export const contextsFileVariable = "ROLECALL_CONTEXTS_FILE";
