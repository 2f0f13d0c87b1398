/** A kubeconfig. @param user the token, or a file that has it. @param isTrusted whether every certificate is trusted */
export function kubeconfigText({
  server,
  isTrusted = false,
  ...user
}: {
  readonly server: string;
  readonly isTrusted?: boolean;
} & ({ readonly token: string } | { readonly tokenFile: string })): string {
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    "current-context": "test",
    contexts: [{ name: "test", context: { cluster: "test", user: "test", namespace: "databases" } }],
    clusters: [{ name: "test", cluster: { server, ...(isTrusted ? { "insecure-skip-tls-verify": true } : {}) } }],
    users: [{ name: "test", user }],
  });
}
