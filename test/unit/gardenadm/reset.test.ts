import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { stringify } from "yaml";
import { LockedError, withLock } from "../../../src/in-process/lock.ts";
import { hasLeft, noteDeparture } from "../../../src/gardenadm/machine/departure.ts";
import { unlessOtherwiseBegun } from "../../../src/gardenadm/machine/gate.ts";
import { carriesControlPlane, forgetMachine, isNode } from "../../../src/gardenadm/machine/traces.ts";
import { noteBegun } from "../../../src/gardenadm/machine/begun-restore.ts";
import { exampleConfiguration } from "../../support/configuration.ts";
import { machineIn, runGardenadm } from "./lab.ts";

let root: string;
/** A folder with a configuration. */
let configuration: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "reset-"));
  configuration = await mkdtemp(join(tmpdir(), "reset-configuration-"));
  const documents = exampleConfiguration().map((object) => stringify(object));
  await writeFile(join(configuration, "all.yaml"), documents.join("---\n"));
});

afterEach(async () => {
  for (const folder of [root, configuration]) await rm(folder, { recursive: true, force: true });
});

const fill = async (path: string) => {
  await mkdir(join(root, path), { recursive: true });
  await writeFile(join(root, path, "file"), "");
};

test("a machine is a node from the first trace of one on, and carries a control plane by its API server's files", async () => {
  expect([await isNode(root), await carriesControlPlane(root)]).toEqual([false, false]);
  await fill("/var/lib/gardener-node-agent");
  expect([await isNode(root), await carriesControlPlane(root)]).toEqual([true, false]);
  await fill("/var/lib/static-pods/kube-apiserver");
  expect(await carriesControlPlane(root)).toBe(true);
});

test("what a command has left that was killed in its preflight makes no node, and a reset takes it away", async () => {
  await mkdir(join(root, "/var/lib/gardenadm"), { recursive: true });
  for (const name of ["journal", "lock"]) await writeFile(join(root, "/var/lib/gardenadm", name), "");
  expect(await isNode(root)).toBe(false);
  const { exit, err } = await runGardenadm(["reset"], { machine: machineIn(root) });
  expect([exit, err]).toEqual([0, "This machine is no node: there is nothing to reset.\n"]);
  expect(await readdir(join(root, "/var/lib"))).toEqual([]);
});

test("what has been noted of a departure lasts until all other notes are gone", async () => {
  await fill("/var/lib/gardenadm/backup");
  expect(await hasLeft(root)).toBe(false);
  await noteDeparture(root);
  await rm(join(root, "/var/lib/gardenadm/backup"), { recursive: true });
  expect([await isNode(root), await hasLeft(root)]).toEqual([true, true]);
  await fill("/var/lib/gardenadm/cluster");
  await forgetMachine(root);
  expect(await readdir(join(root, "/var/lib"))).toEqual([]);
  await forgetMachine(root);
});

test("a machine becomes no node while a reset of it is not done", async () => {
  const begun: string[] = [];
  const work = async () => await Promise.resolve(begun.push("work"));
  await noteDeparture(root);
  await expect(unlessOtherwiseBegun(root, work)).rejects.toThrow(
    "a reset of this machine is not done: run 'gardenadm reset' again",
  );
  expect(begun).toEqual([]);
  await forgetMachine(root);
  await unlessOtherwiseBegun(root, work);
  expect(begun).toEqual(["work"]);
});

test("while a restore is not done, the machine becomes nothing else, and nothing by another source", async () => {
  const begun: (string | undefined)[] = [];
  const give = async (from?: string) =>
    await unlessOtherwiseBegun(root, async () => void (await Promise.resolve(begun.push(from))), from);
  await noteBegun(root, { from: "latest", restored: [], searching: true });
  await expect(give()).rejects.toThrow(
    "a restore from latest was begun on this machine, and is not done: run the same 'gardenadm restore --from latest' again; or take away with 'gardenadm reset --machine-only' what it has left",
  );
  await give("older");
  await noteBegun(root, { from: "latest", restored: [] });
  for (const other of [undefined, "older", "member"])
    await expect(give(other)).rejects.toThrow("a restore from latest was begun");
  await give("latest");
  expect(begun).toEqual(["older", "latest"]);
  expect(await isNode(root)).toBe(true);
  await forgetMachine(root);
  await give();
});

test("of a survivor, which has the only data, no reset is advised", async () => {
  await noteBegun(root, { from: "member", restored: ["main"] });
  await expect(unlessOtherwiseBegun(root, async () => {}, "latest")).rejects.toThrow(
    "run the same 'gardenadm restore --from member' again; 'gardenadm reset --machine-only' would take away the data",
  );
});

const FOLDER = "a folder with a configuration";

/** Each command that makes a machine a node. */
const MAKERS = {
  init: ["init", "-d", FOLDER],
  "a join": [
    ...["join", "https://10.0.0.1", "--bootstrap-token", "-"],
    ...["--ca-cert-hash", `sha256:${"0".repeat(64)}`],
  ],
  "a restore": ["restore", "-d", FOLDER, "--from", "latest"],
  "a restore of the survivor": ["restore", "-d", FOLDER, "--from", "member"],
} as const;

/** Gives a command on this machine. */
const giveHere = async (words: readonly string[]) =>
  await runGardenadm(
    words.map((word) => (word === FOLDER ? configuration : word)),
    { machine: machineIn(root), input: "abcdef.0123456789abcdef" },
  );

test.each(Object.entries(MAKERS))(
  "%s is refused on a machine whose reset is not done, and leaves nothing",
  async (_, words) => {
    await noteDeparture(root);
    expect(await giveHere(words)).toEqual({
      exit: 1,
      out: "",
      err: "error: a reset of this machine is not done: run 'gardenadm reset' again\n",
    });
    expect(await readdir(join(root, "/var/lib/gardenadm"))).toEqual(["left-cluster", "lock"]);
  },
);

test.each(Object.entries(MAKERS).filter(([name]) => !name.startsWith("a restore")))(
  "%s is refused on a machine where a restore is not done",
  async (_, words) => {
    await noteBegun(root, { from: "latest", restored: [] });
    const { exit, err } = await giveHere(words);
    expect({ exit, err }).toEqual({ exit: 1, err: expect.stringContaining("error: a restore from latest was begun") });
  },
);

test("a restore of another source is refused on a machine where one is not done", async () => {
  await noteBegun(root, { from: "latest", restored: [] });
  const { exit, err } = await giveHere(MAKERS["a restore of the survivor"]);
  expect({ exit, err }).toEqual({ exit: 1, err: expect.stringContaining("error: a restore from latest was begun") });
});

test("a command that begins as soon as a reset has taken its lock away keeps what it writes", async () => {
  const lock = join(root, "/var/lib/gardenadm/lock");
  // Whatever the order of a folder is, some of these come after the lock.
  for (let n = 0; n < 300; n += 1) await fill(`/var/lib/gardenadm/${n}`);
  await noteDeparture(root);
  const waiting: Promise<void>[] = [];
  await withLock(lock, async () => {
    waiting.push(begin(lock));
    await forgetMachine(root);
  });
  await Promise.all(waiting);
  expect(await readdir(join(root, "/var/lib/gardenadm"))).toEqual(["journal", "lock"]);
});

/** A command that is given again and again until it has the lock, and writes. */
async function begin(lock: string): Promise<void> {
  const work = async () => await writeFile(join(root, "/var/lib/gardenadm/journal"), "");
  await withLock(lock, work).catch(async (error: unknown) => {
    if (!(error instanceof LockedError)) throw error;
    await begin(lock);
  });
}
