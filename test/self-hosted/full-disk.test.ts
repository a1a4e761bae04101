import { cp, mkdir, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { afterEach, beforeEach, expect, test } from "vitest";
import { defineFlow } from "../../src/flow/flow.ts";
import { readConfiguration } from "../../src/gardenadm/configuration/configuration.ts";
import { createStartActions } from "../../src/gardenadm/init/actions.ts";
import { judge } from "../../src/gardenadm/steps/fault.ts";
import { placesIn } from "../../src/gardenadm/machine/places.ts";
import { openJournal, readJournal } from "../../src/in-process/journal.ts";
import { runInProcess } from "../../src/in-process/run.ts";
import { parseYaml } from "../../src/parsing.ts";

const EXAMPLE = fileURLToPath(new URL("../../deploy/examples/self-hosted", import.meta.url));

let root: string;
let disk: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "perennial-disk-"));
  disk = join(root, "var/lib/gardenadm");
  await mkdir(disk, { recursive: true });
  for (const file of ["shoot.yaml", "cloud-profile.yaml", "project.yaml"])
    await cp(join(EXAMPLE, file), join(root, "config", file));
  await execa("mount", ["-t", "tmpfs", "-o", "size=96k", "perennial-test", disk]);
});

afterEach(async () => {
  await execa("umount", [disk]);
  await rm(root, { recursive: true });
});

/** The rows of `init` that write on this disk first. */
const rows = defineFlow<undefined, "config" | "secrets", "config" | "secrets">("Start the control plane", {
  config: { do: "config" },
  secrets: { do: "secrets", after: ["config"] },
});

/** Runs them as `init` does. */
async function run(): Promise<void> {
  const none = () => Promise.reject(new Error("no command is run by these rows"));
  const { actions, close } = createStartActions({
    machine: { root, hostName: "a", addresses: ["172.31.0.1"], systemctl: none, ctr: none },
    configuration: await readConfiguration(join(root, "config")),
  });
  try {
    await runInProcess(rows, undefined, {
      journal: await openJournal(placesIn(root).journal),
      run: "test",
      judge,
      retryDuration: 120_000,
      signal: new AbortController().signal,
      carryOut: async (action, scope) => await actions[action](scope),
    });
  } finally {
    await close();
  }
}

/** Grows with each write. */
const COUNTER = ".resource-version";

/** What the directory that is the cluster has, by file; throws where one is not whole. */
async function objects(): Promise<Record<string, unknown>> {
  const { cluster } = placesIn(root);
  const entries = await readdir(cluster, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile() && entry.name !== COUNTER)
    .map((entry) => join(entry.parentPath, entry.name));
  const read = async (file: string) => [file, parseYaml(await readFile(file, "utf8"), file)] as const;
  return Object.fromEntries(await Promise.all(files.map(read)));
}

test("on a disk that is full, the making of keys ends with a sentence, leaves nothing half written, and goes on when there is space", async () => {
  const refusal = await run().then(
    () => expect.fail("the disk is too large"),
    (error: unknown) => String(error),
  );
  expect(refusal).toMatch(
    /step secrets cannot go on: cannot write \/\S+\/cluster\/\S+: ENOSPC: no space left on device/,
  );
  const kept = await objects();
  const names = Object.keys(kept);
  expect(names.length).toBeGreaterThan(2);
  expect(names.filter((name) => /\/\.[^/]+$/.test(name))).toEqual([]);
  expect((await readJournal(placesIn(root).journal)).at(-1)).toMatchObject({ step: "secrets", state: "parked" });

  await expect(run()).rejects.toThrow("no space left on device");
  expect(await objects()).toMatchObject(kept);
  await execa("mount", ["-o", "remount,size=16m", disk]);
  await run();
  const made = await objects();
  expect(made).toMatchObject(kept);
  expect(Object.keys(made).length).toBeGreaterThan(names.length);
});
