import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { Progress } from "../../../../src/core/command/output/progress.ts";
import type { Sink } from "../../../../src/core/command/output/io.ts";

function progressOn(
  context: TestContext,
  isTerminal = true,
  isShown = true,
): { progress: Progress; text: () => string } {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  let text = "";
  const write = async (more: string): Promise<void> => void (text += more);
  const sink: Sink = { isTerminal, columns: () => 80, rows: () => 24, onResize: () => () => {}, write, draw: write };
  return { progress: new Progress(sink, isShown), text: () => text };
}

test("a quick command shows no progress", (context) => {
  const { progress, text } = progressOn(context);
  progress.report("connecting");
  context.mock.timers.tick(999);
  progress.done();
  context.mock.timers.tick(10_000);
  assert.equal(text(), "");
});

test("a slow command shows its latest step, then each further one, and erases the line at the end", (context) => {
  const { progress, text } = progressOn(context);
  progress.report("connecting");
  progress.report("probing pg1");
  context.mock.timers.tick(1_000);
  progress.report("probing pg2");
  progress.done();
  progress.done();
  assert.equal(text(), "\r\u001b[Kprobing pg1\r\u001b[Kprobing pg2\r\u001b[K");
});

for (const [title, isTerminal, isShown] of [
  ["a pipe", false, true],
  ["a program that reads JSON", true, false],
] as const) {
  test(`${title} gets no progress`, (context) => {
    const { progress, text } = progressOn(context, isTerminal, isShown);
    progress.report("connecting");
    context.mock.timers.tick(5_000);
    progress.done();
    assert.equal(text(), "");
  });
}
