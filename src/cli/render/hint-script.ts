/** What the hint script contains. All values have characters only that need no quoting in a shell. */
export interface HintScript {
  /** The base addresses of the admin listeners. */
  readonly urls: readonly string[];
  readonly tokenFile: string;
  /** The CA of the listeners' certificates; `null`: those that curl trusts. */
  readonly caFile: string | null;
}

const body = `cluster=\${1-}
node=\${2-}
event=\${3-}
case $cluster/$node in
  */ | /* | *[!A-Za-z0-9._/-]*)
    echo 'usage: rolecall-hint CLUSTER NODE [EVENT [ROLE]]' >&2
    exit 2
    ;;
esac

case $event/\${4-} in
  on_role_change/primary | on_role_change/master | on_role_change/promoted | on_role_change/standby_leader)
    query="cluster=$cluster&node=$node&event=promote"
    ;;
  on_role_change/* | before_stop/* | on_stop/*)
    query="cluster=$cluster&node=$node&event=stop"
    ;;
  test/*)
    query="cluster=$cluster"
    ;;
  *)
    exit 0
    ;;
esac

send() {
  token=
  IFS= read -r token <"$token_file" || [ -n "$token" ] || return 1
  case $token in
    '' | *[!A-Za-z0-9._~+/=-]*)
      echo "rolecall-hint: the first line of $token_file must be a token" >&2
      return 1
      ;;
  esac
  printf 'header = "Authorization: Bearer %s"\\n' "$token" |
    curl --disable --config - --silent --show-error --noproxy '*' --connect-timeout 1 --max-time 2 \\
      \${ca_file:+--cacert "$ca_file"} --request POST "$1/hint?$query"
}

if [ "$event" = test ]; then
  failed=0
  for url in $urls; do
    echo "$url"
    send "$url" || failed=1
    echo
  done
  exit "$failed"
fi

(
  for url in $urls; do
    send "$url" &
  done
) </dev/null >/dev/null 2>&1 &
exit 0
`;

/**
 * Returns the part of the hint script that runs. Patroni waits for `before_stop`, and kills a callback when the next
 * one begins, so the script only starts a background process without its parent's descriptors, and ends. The token goes
 * to curl through a pipe, because every user of the machine can read command lines.
 */
export function hintScript({ urls, tokenFile, caFile }: HintScript): string {
  const settings = [`urls='${urls.join(" ")}'`, `token_file=${tokenFile}`, `ca_file=${caFile ?? ""}`];
  return `set -u\n\n${settings.join("\n")}\n\n${body}`;
}
