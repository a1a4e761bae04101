import { chmod, mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { keepOriginals, restoreOriginals, usersBefore } from "../../../src/node-agent/originals.ts";

let root: string;
const at = (path: string) => join(root, path);

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "originals-"));
  await mkdir(at("/etc/systemd"), { recursive: true });
  await writeFile(at("/etc/passwd"), "root:x:0:0\n");
  await writeFile(at("/etc/systemd/journald.conf"), "own");
  await chmod(at("/etc/systemd/journald.conf"), 0o640);
});

afterEach(async () => {
  await rm(root, { recursive: true, force: true });
});

test("files of the machine's own come back as they were, and what it did not have does not", async () => {
  await keepOriginals(root, ["/etc/systemd/journald.conf", "/etc/absent"]);
  await writeFile(at("/etc/systemd/journald.conf"), "the agent's");
  await keepOriginals(root, ["/etc/systemd/journald.conf"]); // a kill came between
  await rm(at("/etc/systemd/journald.conf"));
  await restoreOriginals(root);
  expect(await readFile(at("/etc/systemd/journald.conf"), "utf8")).toBe("own");
  expect((await stat(at("/etc/systemd/journald.conf"))).mode & 0o777).toBe(0o640);
  await expect(stat(at("/etc/absent"))).rejects.toThrow("ENOENT");
});

test("the users that the machine had are known, whatever is written since", async () => {
  await keepOriginals(root, []);
  await writeFile(at("/etc/passwd"), "root:x:0:0\ngardener:x:1000:1000\n");
  await keepOriginals(root, []);
  expect(await readFile(usersBefore(root), "utf8")).toBe("root:x:0:0\n");
});

test("a machine that was never changed has nothing to come back", async () => {
  await restoreOriginals(root);
  expect(await readFile(at("/etc/systemd/journald.conf"), "utf8")).toBe("own");
});
