/** What the hint script contains. All values have characters only that need no quoting in a shell. */
export interface HintScript {
  /** The base addresses of the admin listeners. */
  readonly urls: readonly string[];
  readonly tokenFile: string;
  /** The CA of the listeners' certificates; `null`: those that curl trusts. */
  readonly caFile: string | null;
  /** The token that lets clients be held before the leader stops; `null`: they are not. */
  readonly pauseTokenFile: string | null;
}

const query = `cluster=\${1-}
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
`;

const holdQuery = `  hold/*)
    query="cluster=$cluster&node=$node&event=before_stop"
    ;;
`;

const sending = `  *)
    exit 0
    ;;
esac

# Sends the hint to URL: send URL TOKEN_FILE OPTION...
send() {
  url=$1
  token_file=$2
  shift 2
  token=
  IFS= read -r token <"$token_file" || [ -n "$token" ] || return 1
  case $token in
    '' | *[!A-Za-z0-9._~+/=-]*)
      echo "rolecall-hint: the first line of $token_file must be a token" >&2
      return 1
      ;;
  esac
  printf 'header = "Authorization: Bearer %s"\\n' "$token" |
    curl --disable --config - --silent --show-error --noproxy '*' "$@" \\
      \${ca_file:+--cacert "$ca_file"} --request POST "$url/hint?$query"
}

`;

const hinting = `if [ "$event" = test ]; then
  failed=0
  for url in $urls; do
    echo "$url"
    send "$url" "$hint_token_file" --connect-timeout 1 --max-time 2 || failed=1
    echo
  done
  exit "$failed"
fi

(
  for url in $urls; do
    send "$url" "$hint_token_file" --connect-timeout 1 --max-time 2 &
  done
) </dev/null >/dev/null 2>&1 &
`;

/** The first listener whose rolecall holds clients ends it: two that hold them at the same time would both give up. */
const holding = `if [ "$event" = hold ]; then
  for url in $urls; do
    send "$url" "$pause_token_file" --fail --connect-timeout 0.3 --max-time 1 && exit 0
  done
  exit 1
fi

`;

const beforeStop = `
if [ "$event" = before_stop ]; then
  timeout 1 "$0" "$cluster" "$node" hold </dev/null >/dev/null 2>&1
fi
`;

/**
 * Returns the part of the hint script that runs. Patroni waits for `before_stop`, and kills a callback when the next
 * one begins, so the script only starts a background process without its parent's descriptors, and ends. It waits only
 * to hold clients, for 1 s at most. The token goes to curl through a pipe, because every user of the machine can read
 * command lines.
 */
export function hintScript({ urls, tokenFile, caFile, pauseTokenFile }: HintScript): string {
  const settings = [`urls='${urls.join(" ")}'`, `hint_token_file=${tokenFile}`, `ca_file=${caFile ?? ""}`];
  const parts =
    pauseTokenFile === null
      ? [query, sending, hinting]
      : [`pause_token_file=${pauseTokenFile}\n\n`, query, holdQuery, sending, holding, hinting, beforeStop];
  return `set -u\n\n${settings.join("\n")}\n${pauseTokenFile === null ? "\n" : ""}${parts.join("")}exit 0\n`;
}
