/**
 * Replays incidents beside the page, so that a large file never blocks it. Messages are `{ id, call, values }`, answers
 * `{ id, value }` or `{ id, problem }`.
 */
/* global importScripts, rolecallCore, rolecallYaml */
importScripts("../vendor/yaml.js", "../core.js");

/** The largest incident file, in bytes. The command has the same limit (src/features/replay/cli/incident-source.ts). */
const bytesMax = 32 * 1024 * 1024;

/** For how many nodes the lag over time is passed on. The chart has lines for fewer. */
const linesMax = 30;

let player = null;

const calls = {
  /** Opens a file: a Blob or text. Returns what happened over its whole time. */
  async open(content, name) {
    const size = typeof content === "string" ? content.length : content.size;
    if (size > bytesMax)
      throw new Error(
        `Cannot read ${name}: an incident file must have at most 32 MB, got ${Math.ceil(size / 2 ** 20)} MB`,
      );
    const text = typeof content === "string" ? content : await textOf(content, name);
    player = rolecallCore.openIncident(parsed(text, name), name);
    const { incident, timeline } = player;
    const { changes, events, fromMs, toMs, settledMs, isCut } = timeline;
    const samples = new Map([...timeline.samples].slice(0, linesMax));
    const { name: title, why, beganWallMs, cluster } = incident;
    return { title, why, beganWallMs, cluster, changes, events, samples, fromMs, toMs, settledMs, isCut };
  },
  at: (atMs) => player.at(atMs),
  explain: (atMs, node, check) => player.explain(atMs, node, check),
};

async function textOf(blob, name) {
  try {
    return await blob.text();
  } catch (error) {
    throw new Error(`Cannot read ${name}: it must be a readable file, not a folder`, { cause: error });
  }
}

function parsed(text, name) {
  try {
    return rolecallYaml.parseIncidentText(text);
  } catch (error) {
    throw new Error(`Cannot read ${name}: ${String(error.message).split("\n")[0]}`, { cause: error });
  }
}

addEventListener("message", async ({ data: { id, call, values } }) => {
  try {
    postMessage({ id, value: await calls[call](...values) });
  } catch (error) {
    postMessage({ id, problem: String(error.message).slice(0, 1_000) });
  }
});
