/** A kubeconfig. @param isTrusted whether every certificate is trusted */
export function kubeconfigText({
  server,
  token,
  isTrusted = false,
}: {
  readonly server: string;
  readonly token: string;
  readonly isTrusted?: boolean;
}): string {
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    "current-context": "test",
    contexts: [{ name: "test", context: { cluster: "test", user: "test", namespace: "databases" } }],
    clusters: [{ name: "test", cluster: { server, ...(isTrusted ? { "insecure-skip-tls-verify": true } : {}) } }],
    users: [{ name: "test", user: { token } }],
  });
}
