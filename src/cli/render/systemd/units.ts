import { hostPort } from "../input/edges.ts";
import type { RenderedFile } from "../output/rendered-files.ts";
import type { UnitOptions } from "./unit-options.ts";

/** A file of a rendered systemd service. */
export interface UnitFile extends RenderedFile {
  /** Where it is installed. */
  readonly path: string;
}

/** Renders the files of a systemd service: its unit, its sockets, its user and its directories. */
export function unitFiles(options: UnitOptions): readonly UnitFile[] {
  return [
    file("/etc/systemd/system/rolecall.socket", socketUnit(options)),
    file("/etc/systemd/system/rolecall.service", serviceUnit(options)),
    file("/etc/sysusers.d/rolecall.conf", sysusers(options)),
    file("/etc/tmpfiles.d/rolecall.conf", tmpfiles(options)),
  ];
}

function file(path: string, text: string): UnitFile {
  const [folder = "", name = ""] = path.split("/").slice(-2);
  return { name: folder === "system" ? name : name.replace(".conf", `.${folder.replace(".d", "")}.conf`), path, text };
}

/** sd_listen_fds(3) passes the sockets in the order of the lines; rolecall assigns them in the order of `listen`. */
function socketUnit({ listen, config }: UnitOptions): string {
  const isDual = listen.some(({ host }) => host === "::");
  return `# systemd keeps these sockets open while rolecall restarts: checks wait instead of being refused.
# One ListenStream for each listener of ${config}, in the same order.
[Unit]
Description=Sockets of rolecall

[Socket]
${listen.map((address) => `ListenStream=${hostPort(address).replaceAll("%", "%%")}`).join("\n")}
Backlog=4096
NoDelay=true
# Addresses that another service adds later.
FreeBind=true${isDual ? "\nBindIPv6Only=both" : ""}

[Install]
WantedBy=sockets.target
`;
}

function serviceUnit({ program, user, config }: UnitOptions): string {
  return `[Unit]
Description=rolecall: health checks for PostgreSQL clusters
Requires=rolecall.socket
After=rolecall.socket network-online.target
Wants=network-online.target
# Never give up: a service that reached its start limit would close the sockets.
StartLimitIntervalSec=0

[Service]
Type=exec
ExecStart=${program} serve --config ${config}
ExecReload=/bin/kill -HUP $MAINPID
User=${user}
Group=${user}
Restart=always
RestartSec=500ms
# SIGTERM goes to the main process, which answers for the time of the key drain (5 s) and then ends its workers.
KillMode=mixed
TimeoutStopSec=60s
LimitNOFILE=65536
StateDirectory=rolecall
StateDirectoryMode=0750
# V8's compiled code: without it each start takes longer.
CacheDirectory=rolecall
CacheDirectoryMode=0700
UMask=0077
# One malloc arena for all threads and a fixed trim threshold: glibc returns free memory sooner.
Environment=MALLOC_ARENA_MAX=1 MALLOC_TRIM_THRESHOLD_=131072

${hardening}
[Install]
WantedBy=multi-user.target
Also=rolecall.socket
`;
}

const hardening = `# Hardening: systemd-analyze security rolecall.service
AmbientCapabilities=
CapabilityBoundingSet=
DevicePolicy=closed
KeyringMode=private
LockPersonality=yes
# MemoryDenyWriteExecute is missing: V8 compiles to machine code.
NoNewPrivileges=yes
PrivateDevices=yes
PrivateTmp=yes
PrivateUsers=yes
ProcSubset=pid
ProtectClock=yes
ProtectControlGroups=yes
ProtectHome=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
ProtectProc=invisible
ProtectSystem=strict
RemoveIPC=yes
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX AF_NETLINK
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
SystemCallArchitectures=native
SystemCallErrorNumber=EPERM
SystemCallFilter=@system-service @pkey
SystemCallFilter=~@privileged @resources
`;

function sysusers({ user }: UnitOptions): string {
  return `# Create the user: systemd-sysusers
u ${user} - "rolecall" /var/lib/rolecall -
`;
}

function tmpfiles({ user, config }: UnitOptions): string {
  const folder = config.slice(0, config.lastIndexOf("/"));
  const own = folder === "/etc/rolecall" ? [`d ${folder} 0750 root ${user} -`] : [];
  return `# Create the directories: systemd-tmpfiles --create
${[...own, `d /var/lib/rolecall 0750 ${user} ${user} -`].join("\n")}
`;
}
