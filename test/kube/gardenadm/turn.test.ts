import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect, onTestFinished } from "vitest";
import { takeTurn, type ClusterTurn } from "../../../src/gardenadm/cluster/turn.ts";
import type { StepScope } from "../../../src/in-process/run.ts";
import { Lease, typeMeta, type KubeClient } from "../../../src/kube/index.ts";
import { microTime } from "../../../src/kube/time.ts";
import { test } from "../../support/cluster-test.ts";

const KEY = { namespace: "kube-system", name: "gardenadm-control-plane" };
const TIMING = { expires: 3_000, renews: 300 };

let folder: string;

test.beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "perennial-turn-"));
  for (const name of ["a", "b"]) {
    await mkdir(join(folder, name, "etc"), { recursive: true });
    await writeFile(join(folder, name, "etc/machine-id"), `${name.repeat(32)}\n`);
  }
});
test.afterAll(() => rm(folder, { recursive: true }));

test("one machine after the other has the turn, and learns whose it is", async ({ cluster: { client } }) => {
  const first = await take(client, "a");
  const said: string[] = [];
  let isSecond = false;
  const waiting = take(client, "b", (message) => said.push(message)).finally(() => (isSecond = true));
  await delay(2 * TIMING.expires);
  expect(isSecond).toBe(false);
  expect(said).toEqual(["another command changes the control plane"]);
  expect((await client.read(Lease, KEY))?.spec.holderIdentity).toMatch(/^a_/);
  await first.end();
  await (await waiting).end();
  expect((await client.read(Lease, KEY))?.spec.holderIdentity).toBe("");
});

test("what a killed command has left, its own machine takes over at once, and another one when it has run out", async ({
  cluster: { client },
}) => {
  const left = async () => await leave(client, `a_${"a".repeat(32)}`);
  await left();
  const begun = performance.now();
  await (await take(client, "a")).end();
  const own = performance.now() - begun;
  await left();
  const later = performance.now();
  await (await take(client, "b")).end();
  const others = performance.now() - later;
  expect(others).toBeGreaterThan(TIMING.expires);
  expect(own).toBeLessThan(TIMING.expires);
});

test("a command whose turn another one has taken over goes on no more", async ({ cluster: { client } }) => {
  const turn = await take(client, "a");
  const { signal } = turn.within(scope());
  expect([signal.aborted, turn.isHeld()]).toEqual([false, true]);
  await leave(client, "b_b");
  await expect.poll(() => signal.aborted, { timeout: 5_000 }).toBe(true);
  expect(() => signal.throwIfAborted()).toThrow("another command has taken the turn over");
  expect(turn.isHeld()).toBe(false);
  await turn.end();
  expect((await client.read(Lease, KEY))?.spec.holderIdentity).toBe("b_b");
});

async function take(client: KubeClient, hostName: "a" | "b", tell?: StepScope["tell"]): Promise<ClusterTurn> {
  const turn = await takeTurn(client, { hostName, root: join(folder, hostName) }, scope(tell), TIMING);
  onTestFinished(async () => await turn.end());
  return turn;
}

const scope = (tell: StepScope["tell"] = () => {}): StepScope => ({ signal: new AbortController().signal, tell });

/** The Lease as a command leaves it that does not give it back. */
async function leave(client: KubeClient, holderIdentity: string): Promise<void> {
  const lease = await client.read(Lease, KEY);
  const spec = { holderIdentity, renewTime: microTime(), leaseDurationSeconds: 3 };
  if (lease === undefined) await client.create<Lease>({ ...typeMeta(Lease), metadata: KEY, spec });
  else await client.replace<Lease>({ ...lease, spec: { ...lease.spec, ...spec } });
}
