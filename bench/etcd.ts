/** An etcd of one member on free ports of the loopback interface. */
import { join } from "node:path";
import { freePort } from "../test/fake/free-port.ts";
import { until } from "../test/fake/until.ts";
import { ChildProgram } from "./child-program.ts";
import { find } from "./machine.ts";
import { hasStatus } from "./rolecall.ts";

/** The reason why no etcd can be started; `null`: it can. */
export function missingEtcd(): string | null {
  return find("etcd") === undefined ? "package etcd-server is not installed" : null;
}

/** Starts it, and waits until it is healthy. @param as the command that runs another command as the right user */
export async function startEtcd(
  folder: string,
  as: (command: readonly string[]) => readonly string[] = (command) => command,
): Promise<{ readonly url: string; readonly process: ChildProgram }> {
  const [url, peer] = [`http://127.0.0.1:${await freePort()}`, `http://127.0.0.1:${await freePort()}`];
  const urls = ["--listen-client-urls", "--advertise-client-urls"].flatMap((flag) => [flag, url]);
  const peerUrls = ["--listen-peer-urls", "--initial-advertise-peer-urls"].flatMap((flag) => [flag, peer]);
  const process = await ChildProgram.start({
    command: as([
      "etcd",
      "--data-dir",
      join(folder, "etcd"),
      "--initial-cluster",
      `default=${peer}`,
      ...urls,
      ...peerUrls,
    ]),
    core: "load",
  });
  await until({ what: "a healthy etcd", seconds: 30 }, () => hasStatus(`${url}/health`, 200));
  return { url, process };
}
