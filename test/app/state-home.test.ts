import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite, test, type TestContext } from "node:test";
import { openStateHome, type StateHome, stateFileIn, stateLockOf } from "../../src/app/state-home.ts";
import { silentLogger } from "../fake/silent-logger.ts";
import { ManualClock } from "../fake/manual-clock.ts";
import { StateKeeper } from "../../src/app/state-keeper.ts";
import { until } from "../fake/until.ts";

function folderOf(context: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "rolecall-state-"));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function opened(context: TestContext, env: Readonly<Record<string, string | undefined>>): Promise<StateHome> {
  const home = await openStateHome(env);
  context.after(async () => {
    if (home.kind === "kept") await home.lock.release();
  });
  return home;
}

suite("where state is kept", () => {
  test("in $STATE_DIRECTORY, the first of several", async (context) => {
    const folder = folderOf(context);
    const home = await opened(context, { STATE_DIRECTORY: `${folder}:/no/such`, XDG_STATE_HOME: "/no/such" });
    assert.ok(home.kind === "kept");
    assert.deepEqual([home.directory, home.from], [folder, "STATE_DIRECTORY"]);
    assert.equal(stateFileIn(home.directory), join(folder, "state.json"));
    assert.ok(existsSync(join(folder, "state.json.lock")));
  });

  test("else in $XDG_STATE_HOME/rolecall, which is made for its owner alone", async (context) => {
    const folder = folderOf(context);
    for (const unset of [undefined, "", "relative/path", "/no/such/directory"]) {
      const home = await openStateHome({ STATE_DIRECTORY: unset, XDG_STATE_HOME: folder });
      assert.ok(home.kind === "kept", unset);
      assert.deepEqual([home.directory, home.from], [join(folder, "rolecall"), "XDG_STATE_HOME"]);
      assert.equal(statSync(home.directory).mode & 0o777, 0o700);
      await home.lock.release();
    }
  });

  test("nowhere without them, which is no fault", async (context) => {
    for (const env of [{}, { STATE_DIRECTORY: "", XDG_STATE_HOME: "not/absolute" }, { HOME: folderOf(context) }])
      assert.deepEqual(await openStateHome(env), {
        kind: "none",
        problem: "neither state_file nor $STATE_DIRECTORY nor $XDG_STATE_HOME is set",
        isFault: false,
      });
  });

  test("nowhere where they cannot be used: each problem is said, and nothing is made above them", async (context) => {
    const folder = folderOf(context);
    const file = join(folder, "a-file");
    writeFileSync(file, "");
    const home = await openStateHome({ STATE_DIRECTORY: file, XDG_STATE_HOME: join(folder, "none") });
    assert.ok(home.kind === "none" && home.isFault);
    assert.match(
      home.problem,
      /^cannot use .*a-file \(\$STATE_DIRECTORY\): .* must be a directory; cannot use .*ENOENT/,
    );
    assert.ok(!existsSync(join(folder, "none")));
  });

  test("nowhere where the file system takes no file, whoever asks", async () => {
    const home = await openStateHome({ STATE_DIRECTORY: "/proc" });
    assert.ok(home.kind === "none" && home.isFault, JSON.stringify(home));
    assert.match(home.problem, /^cannot use \/proc \(\$STATE_DIRECTORY\): E[A-Z]+/);
  });

  test("nowhere in a directory that is read-only", { skip: process.getuid?.() === 0 }, async (context) => {
    const folder = folderOf(context);
    chmodSync(folder, 0o500);
    const home = await openStateHome({ STATE_DIRECTORY: folder });
    assert.ok(home.kind === "none" && home.isFault && home.problem.includes("EACCES"));
  });

  test("not beside another process: no other directory is taken in its place", async (context) => {
    const [ours, theirs] = [folderOf(context), folderOf(context)];
    const lock = stateLockOf(stateFileIn(theirs));
    assert.equal(await lock.acquire(), null);
    const home = await openStateHome({ STATE_DIRECTORY: theirs, XDG_STATE_HOME: ours });
    assert.deepEqual(home, { kind: "none", problem: `this process uses ${theirs} ($STATE_DIRECTORY)`, isFault: true });
    assert.ok(!existsSync(join(ours, "rolecall")));
    await lock.release();
    assert.equal((await opened(context, { STATE_DIRECTORY: theirs })).kind, "kept");
  });
});

const none: StateHome = { kind: "none", problem: "nothing is set", isFault: false };

interface Lines {
  readonly lines: string[];
  readonly log: typeof silentLogger;
}

function recorded(): Lines {
  const lines: string[] = [];
  const write = (level: string) => (_fields: object, text: string) => void lines.push(`${level} ${text}`);
  const log = Object.assign(Object.create(silentLogger), {
    info: write("info"),
    warn: write("warn"),
    error: write("error"),
  });
  return { lines, log };
}

function keeperOf(context: TestContext, home: StateHome): Lines & { readonly clock: ManualClock; keeper: StateKeeper } {
  const { lines, log } = recorded();
  const clock = new ManualClock();
  const keeper = new StateKeeper({ log, home, setTimer: (run, delayMs) => clock.setTimer(run, delayMs) });
  context.after(() => keeper.close());
  return { lines, log, clock, keeper };
}

suite("who writes the state file", () => {
  test("says at the start where it is, and in what is shown", async (context) => {
    const folder = folderOf(context);
    const home = await openStateHome({ STATE_DIRECTORY: folder });
    const { keeper, lines } = keeperOf(context, home);
    const file = stateFileIn(folder);
    await keeper.follow(file);
    keeper.announce(file, `${file}.history`);
    assert.deepEqual(lines, ["info state is kept"]);
    const shown = { file, history: `${file}.history`, from: "STATE_DIRECTORY", problem: null };
    assert.deepEqual(keeper.describe(file, `${file}.history`), shown);
  });

  test("says that none is kept, and why: a warning only where the system names a directory", (context) => {
    const quiet = keeperOf(context, none);
    quiet.keeper.announce(null, null);
    assert.deepEqual(quiet.lines, ["info no state is kept across restarts"]);
    assert.deepEqual(quiet.keeper.describe(null, null), {
      file: null,
      history: null,
      from: null,
      problem: "nothing is set",
    });
    quiet.keeper.announce(null, "/past");
    assert.equal(quiet.lines.at(-1), "info no state is kept across restarts", "a history alone is no state");
    assert.deepEqual(quiet.keeper.describe(null, "/past"), {
      file: null,
      history: "/past",
      from: null,
      problem: "nothing is set",
    });
    const faulty = keeperOf(context, { ...none, isFault: true });
    faulty.keeper.announce(null, null);
    assert.deepEqual(faulty.lines, ["warn no state is kept across restarts"]);
  });

  test("says so while another process uses a configured file too, and when it no longer does", async (context) => {
    const file = join(folderOf(context), "members.json");
    const other = stateLockOf(file);
    assert.equal(await other.acquire(), null);
    const { keeper, lines, clock } = keeperOf(context, none);
    await keeper.follow(file);
    keeper.announce(file, null);
    assert.deepEqual(lines, [
      "warn state file used by two processes: the last one to write wins",
      "info state is kept",
    ]);
    const problem = "it must be used by one process, got this process that uses it too";
    assert.deepEqual(keeper.describe(file, null), { file, history: null, from: "configuration", problem });
    await other.release();
    await clock.pass(10_000);
    await until("the lock", () => keeper.describe(file, null).problem === null);
    assert.deepEqual(lines.slice(2), ["info state file used by this process alone"]);
    await keeper.close();
    assert.ok(!existsSync(`${file}.lock`));
  });

  test("does not accuse a process of another container that may have been killed, until it confirms", async (context) => {
    const file = join(folderOf(context), "members.json");
    writeFileSync(`${file}.lock`, '{"pid":1,"started":"1","scope":"another boot"}');
    const { keeper, lines, clock } = keeperOf(context, none);
    await keeper.follow(file);
    keeper.announce(file, null);
    assert.deepEqual(lines, ["info state is kept"]);
    assert.equal(keeper.describe(file, null).problem, null);
    for (let confirmation = 0; confirmation < 4; confirmation += 1) {
      await clock.pass(10_000);
      await until("the next confirmation", () => clock.timers === 1);
    }
    assert.deepEqual(lines.slice(1), ["warn state file used by two processes: the last one to write wins"]);
    assert.match(keeper.describe(file, null).problem ?? "", /got a process of another container or machine/);
  });

  test("follows another configured file, gives the old one back, and keeps what the system gave", async (context) => {
    const [folder, more] = [folderOf(context), folderOf(context)];
    const home = await openStateHome({ STATE_DIRECTORY: folder });
    const { keeper } = keeperOf(context, home);
    const [one, two] = [join(more, "one.json"), join(more, "two.json")];
    for (const file of [one, two, two, stateFileIn(folder), null]) await keeper.follow(file);
    assert.deepEqual(
      [one, two, stateFileIn(folder)].map((file) => existsSync(`${file}.lock`)),
      [false, false, true],
    );
    await keeper.follow(two);
    assert.ok(existsSync(`${two}.lock`));
    await keeper.close();
    assert.deepEqual(
      [two, stateFileIn(folder)].map((file) => existsSync(`${file}.lock`)),
      [false, false],
    );
  });

  test("says that a lock is lost, once, and that of a file system that fails is not lost", async (context) => {
    const folder = folderOf(context);
    const home = await openStateHome({ STATE_DIRECTORY: folder });
    const { keeper, lines, clock } = keeperOf(context, home);
    const file = stateFileIn(folder);
    keeper.announce(file, null);
    rmSync(`${file}.lock`);
    mkdirSync(`${file}.lock`);
    const confirmed = async (): Promise<void> => {
      await clock.pass(10_000);
      await until("the next confirmation", () => clock.timers === 1);
    };
    await confirmed();
    assert.equal(keeper.describe(file, null).problem, null);
    rmSync(`${file}.lock`, { recursive: true });
    writeFileSync(`${file}.lock`, '{"pid":1,"started":"1","scope":"another boot"}');
    await confirmed();
    await confirmed();
    assert.deepEqual(lines.slice(1), ["error state file not ours alone"]);
    assert.match(keeper.describe(file, null).problem ?? "", /another container/);
    rmSync(`${file}.lock`);
    await confirmed();
    assert.equal(keeper.describe(file, null).problem, null);
  });
});
