import { chmod, mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { findWay } from "../../../src/gardenadm/join/way.ts";
import { replaceApiServerLines } from "../../../src/gardenadm/machine/hosts-file.ts";

let root: string;
let file: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "names-"));
  await mkdir(join(root, "etc"));
  file = join(root, "etc/hosts");
});

afterEach(async () => {
  await rm(root, { recursive: true, force: true });
});

const OURS = "10.0.0.9 api.test # API server";

test.each([
  ["nothing yet", "", false],
  ["that address among others", `10.0.0.8 api.test # API server\n${OURS}\n`, true],
  ["the address of a control plane that has moved", "10.0.0.8 api.test # API server\n", false],
  ["an API server of its own", "127.0.0.1 api.test # API server\n", true],
])("a machine that joins, whose hosts file names %s, reads it and writes nothing", async (_, before, isGood) => {
  const text = `127.0.0.1 localhost\n${before}`;
  await writeFile(file, text);
  const way = await findWay({ server: "https://api.test:6443", ca: "the authority" }, "https://10.0.0.9", root);
  const byAddress = { server: "https://10.0.0.9:6443", tlsServerName: "api.test", ca: "the authority" };
  expect(way).toEqual(isGood ? byAddress : { ...byAddress, lines: [OURS] });
  expect(await readFile(file, "utf8")).toBe(text);
});

test.each(["https://10.0.0.7", "https://[fd00::7]:6443"])("an address is no name: %s", async (server) => {
  expect(await findWay({ server, ca: "" }, "https://10.0.0.9", root)).toEqual({ server, ca: "" });
});

test("in the hosts file, only lines of ours change, and go again without a trace", async () => {
  const text = "\n127.0.0.1\tlocalhost\n\n# caf\xe9 \r\n\n10.0.0.2 db # my API server\n\n\n";
  await writeFile(file, text, "latin1");
  await chmod(file, 0o640);
  await replaceApiServerLines(root, [OURS]);
  expect(await readFile(file, "latin1")).toBe(`${text}${OURS}\n`);
  await replaceApiServerLines(root, ["10.0.0.8 api.test # API server"]);
  expect(await readFile(file, "latin1")).toBe(`${text}10.0.0.8 api.test # API server\n`);
  await replaceApiServerLines(root, []);
  expect(await readFile(file, "latin1")).toBe(text);
  expect((await stat(file)).mode & 0o7777).toBe(0o640);
});

test("a hosts file that cannot be read stays, and one that is a link stays one", async () => {
  await mkdir(file);
  await expect(replaceApiServerLines(root, [OURS])).rejects.toThrow("EISDIR");
  await rm(file, { recursive: true });
  await writeFile(join(root, "etc/hosts.real"), "127.0.0.1 localhost");
  await symlink("hosts.real", file);
  await replaceApiServerLines(root, [OURS]);
  expect(await readFile(join(root, "etc/hosts.real"), "utf8")).toBe(`127.0.0.1 localhost\n${OURS}\n`);
});

test("a machine without a hosts file gets one, which all may read", async () => {
  await replaceApiServerLines(root, []);
  await expect(stat(file)).rejects.toThrow("ENOENT");
  await replaceApiServerLines(root, [OURS]);
  expect(await readFile(file, "utf8")).toBe(`${OURS}\n`);
  expect((await stat(file)).mode & 0o7777).toBe(0o644);
});
