import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ensureName } from "../../../src/gardenadm/join/api-server-name.ts";
import type { TrustedCluster } from "../../../src/gardenadm/join/trust.ts";

let root: string;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "names-"));
  await mkdir(join(root, "etc"));
});

afterAll(async () => {
  await rm(root, { recursive: true, force: true });
});

test.each([
  ["nothing yet", "", "10.0.0.9 api.test # API server\n"],
  ["that address among others", "10.0.0.8 api.test # API server\n10.0.0.9 api.test # API server\n", undefined],
  [
    "the address of a control plane that has moved",
    "10.0.0.8 api.test # API server\n",
    "10.0.0.9 api.test # API server\n",
  ],
  ["an API server of its own", "127.0.0.1 api.test # API server\n", undefined],
])("a machine that joins, whose hosts file names %s", async (_, before, after) => {
  const file = join(root, "etc/hosts");
  await writeFile(file, `127.0.0.1 localhost\n${before}`);
  await ensureName({ server: "https://api.test" } as TrustedCluster, "https://10.0.0.9", root);
  expect(await readFile(file, "utf8")).toBe(`127.0.0.1 localhost\n${after ?? before}`);
});
