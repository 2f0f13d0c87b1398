#!/usr/bin/env bash
# Replays the Dockerfile where no engine is at hand. Every step is read from the Dockerfile itself; one that this script does not
# know ends it. Stages are folders, RUN and the program use the machine's node in place of the image's. Then the program runs from
# its entry point as the image's user on a tree that it cannot write, answers the HEALTHCHECK, and ends with 0 after STOPSIGNAL.
# What the image adds to its base must stay below a limit.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly port=28308 limit_mb=90
# What `--build-arg` gives (docs/install.md).
declare -A given=([SOURCE_COMMIT]=$(git rev-parse HEAD))
scratch=$(mktemp -d)
chmod 755 "$scratch" # the unprivileged user has to reach it
program=
cleanup() {
  if [ -n "$program" ]; then kill -KILL "$program" 2>/dev/null || true; fi
  rm -rf "$scratch"
}
trap cleanup EXIT
trap 'exit 143' TERM
trap 'exit 130' INT

fail() {
  echo "docker-replay: $*" >&2
  exit 1
}

# One instruction a line: comments and blank lines gone, continued lines joined.
instructions() {
  sed -e '/^[[:space:]]*#/d' -e '/^[[:space:]]*$/d' Dockerfile | sed -e ':more' -e '/\\$/{N;s/\\\n[[:space:]]*/ /;b more' -e '}'
}

# The strings of a JSON array, each ended by a NUL.
words() {
  node -e 'for (const word of JSON.parse(process.argv[1])) process.stdout.write(`${word}\0`)' "$1"
}

# What a COPY may take: the folder without what .dockerignore names (plain names at the top level, nothing finer).
context=$scratch/context
mkdir "$context"
grep -q '[*!/]' .dockerignore && fail ".dockerignore must hold plain names only, as this script reads no patterns"
sed 's#^#./#' .dockerignore > "$scratch/ignored"
tar --create --anchored --exclude-from="$scratch/ignored" . | tar --extract --no-same-owner --directory "$context"

declare -A stages=() arguments=()
declare -a owned=() environment=() entrypoint=() command=() health=()
stage=
folder=/
user=root
stop_signal=SIGTERM
labels=

begin_stage() { # image AS name
  local version=${1#node:}
  [ "$version" != "$1" ] || fail "a stage must be on a node image: $1"
  [[ $1 =~ @sha256:[0-9a-f]{64}$ ]] || fail "the base must be pinned by its digest: $1"
  [ "${version%%[!0-9]*}" = "$(node -p 'process.versions.node.split(".")[0]')" ] || echo "   (the image has Node ${version%%[!0-9]*}, this replay $(node -v))"
  stage=$scratch/stage${#stages[@]}
  stages[${3:-last}]=$stage
  mkdir "$stage"
  environment=() owned=() folder=/ user=root
}

copy() { # [--from=stage] [--chown=user:group] source… destination
  local from=$context destination=${*: -1} owner=
  while [[ $1 == --* ]]; do
    case $1 in
      --from=*) from=${stages[${1#--from=}]} ;;
      --chown=*) owner=${1#--chown=} ;;
      *) fail "COPY with an option this script does not know: $1" ;;
    esac
    shift
  done
  [[ $destination == /* ]] || destination=$folder/$destination
  mkdir -p "$(dirname "$stage$destination")"
  [[ $destination != */ ]] || mkdir -p "$stage$destination"
  local source
  for source in "${@:1:$#-1}"; do
    # A folder's contents are copied, not the folder itself; a file is copied as it is.
    if [ -d "$from/$source" ]; then mkdir -p "$stage$destination" && cp -R "$from/$source/." "$stage$destination"; else cp "$from/$source" "$stage$destination"; fi
  done
  if [ -n "$owner" ]; then
    owned+=("$stage$destination")
    if [ "$(id -u)" = 0 ]; then chown -R "$owner" "$stage$destination"; fi
  fi
}

replay() { # one instruction
  local word=$1 rest=$2
  case $word in
    ARG) if [ -n "${given[${rest%%=*}]:-}" ]; then arguments[${rest%%=*}]=${given[${rest%%=*}]}; elif [[ $rest == *=* ]]; then arguments[${rest%%=*}]=${rest#*=}; elif [ -z "${arguments[$rest]:-}" ]; then fail "ARG $rest has no value"; fi ;;
    FROM) eval "begin_stage $rest" ;;
    WORKDIR) folder=$rest && mkdir -p "$stage$folder" ;;
    COPY) eval "copy $rest" ;;
    RUN) (cd "$stage$folder" && env "${environment[@]}" bash -euo pipefail -c "$rest" >"$scratch/run.log" 2>&1) || { tail -n 20 "$scratch/run.log" | sed -E 's#[a-z]+://[^ ]+#(address)#g' >&2 && fail "RUN $rest"; } ;;
    ENV) environment+=("${rest/=\//=$stage/}") ;; # an absolute path lies below its stage here
    USER) user=$rest ;;
    STOPSIGNAL) stop_signal=$rest ;;
    HEALTHCHECK) mapfile -d '' -t health < <(words "${rest#*CMD }") ;;
    ENTRYPOINT) mapfile -d '' -t entrypoint < <(words "$rest") ;;
    CMD) mapfile -d '' -t command < <(words "$rest") ;;
    LABEL) labels+=" $rest" ;;
    EXPOSE) ;;
    *) fail "an instruction this script does not know: $word" ;;
  esac
}

while read -r word rest; do
  for name in "${!arguments[@]}"; do rest=${rest//"\${$name}"/${arguments[$name]}}; done
  echo "-- $word $rest"
  replay "$word" "$rest" </dev/null
done < <(instructions)

[[ $user =~ ^[1-9][0-9]*:[1-9][0-9]*$ ]] || fail "the image must run as a user and group given by number, not as $user"
version=$(node -p 'require("./package.json").version')
[[ $labels == *"org.opencontainers.image.version=\"$version\""* ]] || fail "the label of the version must be $version, as in package.json"
size_mb=$(($(du --summarize --apparent-size --bytes "$stage" | cut -f1) / 1000000))
[ "$size_mb" -lt "$limit_mb" ] || fail "the image must add less than $limit_mb MB to its base, got $size_mb MB"
[ ! -e "$stage/app/node_modules/typescript" ] || fail "the image must not hold development packages"

# What an operator mounts, and the tree as `--read-only` makes it.
mkdir -p "$stage/etc/rolecall"
cat >"$stage/etc/rolecall/rolecall.yaml" <<YAML
clusters: [{ name: demo, nodes: [{ name: pg1, api: "http://127.0.0.1:1" }] }]
listen: [{ port: $port, cluster: demo }]
drain: 100ms
YAML
chmod -R a-w,a+rX "$stage"
chmod -R u+w "${owned[@]}"
touch "$scratch/begun"
as_user=()
if [ "$(id -u)" = 0 ]; then as_user=(setpriv --reuid="${user%:*}" --regid="${user#*:}" --clear-groups --no-new-privs); fi

# Absolute paths of the image lie below its stage here.
placed=()
for argument in "${entrypoint[@]}" "${command[@]}"; do
  if [[ $argument == /* ]]; then placed+=("$stage$argument"); else placed+=("$argument"); fi
done
for place in "${owned[@]}"; do "${as_user[@]}" test -w "$place" || fail "the user $user must be able to write to ${place#"$stage"}"; done
inside=(env -i "PATH=$PATH" "${environment[@]}" "HEALTH_URL=http://127.0.0.1:$port/livez")

said=$("${as_user[@]}" "${inside[@]}" "${placed[@]:0:${#entrypoint[@]}}" --version)
[ "$said" = "rolecall $version (commit ${given[SOURCE_COMMIT]:0:12})" ] || fail "the image must name its version and its commit, got $said"

trial=$PWD/build/test/packaging/try-artefact.js
[ -e "$trial" ] || fail "the tests must be compiled: npm run build:test"
node "$trial" "${as_user[@]}" "${inside[@]}" "${placed[@]:0:${#entrypoint[@]}}" || fail "a command must work while a node is dead"

cd "$stage$folder"
if "${inside[@]}" "${health[@]}"; then fail "port $port must be free: something else answers there"; fi
"${as_user[@]}" "${inside[@]}" "${placed[@]}" >"$scratch/program.log" 2>&1 &
program=$!
healthy=no
for _ in $(seq 50); do
  if "${as_user[@]}" "${inside[@]}" "${health[@]}"; then healthy=yes && break; fi
  kill -0 "$program" 2>/dev/null || break
  sleep 0.2
done
[ "$healthy" = yes ] || { cat "$scratch/program.log" >&2 && fail "HEALTHCHECK never passed"; }

kill -s "${stop_signal#SIG}" "$program"
for _ in $(seq 50); do
  kill -0 "$program" 2>/dev/null || break
  sleep 0.2
done
if kill -0 "$program" 2>/dev/null; then fail "the program does not end after $stop_signal"; fi
code=0
wait "$program" || code=$?
program=
[ "$code" = 0 ] || { cat "$scratch/program.log" >&2 && fail "the program ended with $code after $stop_signal, not with 0"; }
[ -z "$(find "$stage" -path "$stage/var/lib/rolecall" -prune -o -newer "$scratch/begun" -print -quit)" ] || fail "the program wrote into its tree"
[ -s "$stage/var/lib/rolecall/state.json" ] || fail "a configuration without state_file must keep its state in /var/lib/rolecall"
echo "docker-replay: every step replayed; $said; $size_mb MB beyond the base (at most $limit_mb)"
echo "docker-replay: healthy as user $user on a read-only tree; may write to ${owned[*]#"$stage"}; ended with 0 after $stop_signal"
