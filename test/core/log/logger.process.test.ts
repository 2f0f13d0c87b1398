import assert from "node:assert/strict";
import { once } from "node:events";
import { describe, test } from "node:test";
import { sendRequest } from "../../fake/http-request.ts";
import { until } from "../../fake/until.ts";
import { openFakeCluster } from "../../fake/fake-node.ts";
import { freePort } from "../../fake/free-port.ts";
import { writeConfigFile } from "../../fake/config-file.ts";
import { RolecallProcess } from "../../fake/rolecall-process.ts";

describe("a process whose stderr is not read", () => {
  for (const [kind, command] of [
    ["a socket", undefined],
    ["a pipe", ["bash", "-c", 'exec "$@" 2> >(exec sleep 30 > /dev/null 2>&1)', "bash", process.execPath]],
  ] as const) {
    test(`answers checks and exits on a signal: ${kind}`, { timeout: 60_000 }, async (context) => {
      const [pg1] = await openFakeCluster(context, ["pg1"]);
      const [port, admin] = [await freePort(), await freePort()];
      const listen = `[{ port: ${port}, management: on }, { port: ${admin}, dialect: admin }]`;
      const file = writeConfigFile(
        context,
        `clusters: [{ name: demo, nodes: [{ name: pg1, api: "${pg1?.api}" }] }]\nlisten: ${listen}\ndrain: 0s\n`,
      );
      const running = new RolecallProcess(
        context,
        ["serve", "--config", file],
        command === undefined ? {} : { command },
      );
      running.process.stderr?.pause();
      await until("an answer", () =>
        sendRequest(`http://127.0.0.1:${port}/readyz`).then(
          ({ status }) => (status === 200 ? true : undefined),
          () => undefined,
        ),
      );
      // Each call is one log line: together more than pipe, socket and memory hold.
      const headers = { "x-request-id": "r".repeat(128) };
      for (let round = 0; round < 100; round += 1) {
        await Promise.all(
          Array.from({ length: 50 }, () =>
            sendRequest(`http://127.0.0.1:${port}/nodes/pg1/reload?dry_run=1`, { method: "POST", headers }),
          ),
        );
        assert.equal((await sendRequest(`http://127.0.0.1:${port}/livez`)).status, 200);
      }
      const { body } = await sendRequest(`http://127.0.0.1:${admin}/metrics`);
      const lost = Number(/^rolecall_log_lines_lost_total (\d+)$/m.exec(body)?.[1]);
      assert.ok(lost > 0, `${lost} lines were lost`);
      if (command === undefined) {
        running.process.stderr?.resume();
        await until("the notice", () => (running.stderr.includes('"msg":"log lines lost') ? true : undefined));
        const lines = running.stderr
          .trimEnd()
          .split("\n")
          .map((line) => JSON.parse(line) as { readonly msg: string; readonly lost?: number });
        const calls = lines.filter(({ msg }) => msg === "management call").length;
        assert.equal(calls + lines.reduce((sum, line) => sum + (line.lost ?? 0), 0), 5_000);
        running.process.stderr?.pause();
      }
      const ended = once(running.process, "exit");
      running.process.kill("SIGTERM");
      assert.deepEqual(await ended, [0, null]);
    });
  }
});
