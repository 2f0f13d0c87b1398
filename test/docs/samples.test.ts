/** The samples of output that no console block runs, compared with what the program prints. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import type { ClusterEvent } from "../../src/core/events/cluster-event.ts";
import { logEvent } from "../../src/core/events/event-lines.ts";
import { eventOf } from "../../src/features/history/store/history-lines.ts";
import { silentLogger } from "../fake/silent-logger.ts";
import { userDocuments } from "./markdown.ts";

/** The blocks of a document in one language, as text. */
function blocksOf(file: string, language: string): readonly string[] {
  const document = userDocuments().find((candidate) => candidate.file === file);
  const blocks = document?.blocks.filter((block) => block.language === language) ?? [];
  assert.ok(blocks.length > 0, `${file} has ${language} blocks`);
  return blocks.map(({ lines }) => lines.join("\n"));
}

/** Figures differ from run to run. */
function withoutFigures(text: string): string {
  return text
    .replaceAll(/\d+(?:\.\d+)?/g, "N")
    .replaceAll(/[ \t]+/g, " ")
    .trim();
}

/** The messages of the events in the stories of the tests, which are found by the program. */
const messages = ["dcs", "nodes", "primary"].flatMap((name) =>
  [...readFileSync(`test/spec/events/${name}.yaml`, "utf8").matchAll(/ - "\S+ \w+ \w+ \S+: (.*)"$/gm)].map(
    ([, message = ""]) => withoutFigures(message),
  ),
);

describe("docs/events.md", () => {
  const [page = "", line = ""] = blocksOf("docs/events.md", "json");

  test("the page of events has events as they are stored, with a message of the program", () => {
    const { events, ...rest } = JSON.parse(page) as { events: (Omit<ClusterEvent, "at"> & { at: string })[] };
    assert.deepEqual(Object.keys(rest), ["oldest", "more"]);
    assert.ok(events.length > 0);
    for (const event of events) {
      const stored = { ...event, at: Date.parse(event.at) };
      assert.deepEqual(eventOf({ event: stored }), stored);
      assert.ok(messages.includes(withoutFigures(event.message)), event.message);
    }
  });

  test("the log line has the fields that the program logs", () => {
    const { level, time, msg, event, id, cluster, node, cause, ...figures } = JSON.parse(line) as Record<
      string,
      string
    >;
    const logged: unknown[] = [];
    const log = Object.assign(Object.create(silentLogger), {
      [String(level)]: (...call: unknown[]) => logged.push(call),
    });
    const rest = {
      id,
      cluster,
      node: node ?? null,
      cause: cause ?? null,
      figures,
      message: msg,
      at: Date.parse(time ?? ""),
    };
    const read = eventOf({ event: { ...rest, kind: event, severity: level === "warn" ? "warning" : level } });
    assert.ok(read);
    logEvent(log, read);
    assert.deepEqual(logged, [[{ event, id, cluster, node, cause, ...figures }, msg]]);
    assert.ok(messages.includes(withoutFigures(read.message)), read.message);
  });
});

test("docs/haproxy.md, docs/reaction-time.md: HAProxy accepts the lines, if it is installed", (context) => {
  const folder = mkdtempSync(join(tmpdir(), "rolecall-docs-"));
  context.after(() => rmSync(folder, { recursive: true }));
  const [server = ""] = blocksOf("docs/haproxy.md", "haproxy");
  const [socket = ""] = blocksOf("docs/reaction-time.md", "haproxy");
  const file = join(folder, "haproxy.cfg");
  const defaults = "defaults\n  mode tcp\n  timeout connect 2s\n  timeout client 30m\n  timeout server 30m\n";
  writeFileSync(file, `${socket}\n${defaults}backend read\n  ${server}\n`);
  const { error, status, stderr } = spawnSync("haproxy", ["-c", "-f", file], { encoding: "utf8" });
  if (error !== undefined) return context.skip("haproxy is not installed");
  assert.equal(status, 0, stderr);
});
