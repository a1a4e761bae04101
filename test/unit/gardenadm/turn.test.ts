import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { judge } from "../../../src/gardenadm/steps/fault.ts";
import { takeTurn, type ClusterTurn } from "../../../src/gardenadm/cluster/turn.ts";
import { createDirectoryClient, type DirectoryClient } from "../../../src/kube/directory/directory-client.ts";

const scope = { signal: new AbortController().signal, tell: () => {} };

let root: string;
let cluster: DirectoryClient;
let turn: ClusterTurn;
/** What the way to the API server does with a call. */
let way: () => Promise<void>;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "turn-"));
  await mkdir(join(root, "etc"));
  await writeFile(join(root, "etc/machine-id"), `${"a".repeat(32)}\n`);
  cluster = createDirectoryClient({ directory: join(root, "cluster") });
  way = async () => {};
  const read: DirectoryClient["read"] = async (...args: [never]) => {
    await way();
    return await cluster.read(...args);
  };
  turn = await takeTurn({ ...cluster, read }, { root, hostName: "a" }, scope, { expires: 1_500, renews: 50 });
});

afterEach(async () => {
  way = async () => {};
  await turn.end();
  await cluster.close();
  await rm(root, { recursive: true, force: true });
});

test.each([
  ["refuses", async () => await Promise.reject(new Error("connect ECONNREFUSED"))],
  ["swallows", async () => await new Promise<void>((resolve) => void (goOn = resolve))],
])(
  "a step is ended where the way to the API server %s all for longer than a turn lasts, and goes on afterwards",
  async (_, fails) => {
    const { signal } = turn.within(scope);
    way = fails;
    await expect.poll(() => signal.aborted, { timeout: 5_000 }).toBe(true);
    expect(judge(signal.reason)).toMatchObject({ retryable: true, silent: "the API server" });
    expect(() => turn.within(scope)).toThrow("another command may have taken the turn over");
    way = async () => {};
    goOn();
    await expect.poll(() => canGoOn(), { timeout: 5_000 }).toBe(true);
  },
);

let goOn = () => {};

function canGoOn(): boolean {
  try {
    return !turn.within(scope).signal.aborted;
  } catch {
    return false;
  }
}
