import { once } from "node:events";
import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import type { Shoot } from "../../../src/api/index.ts";
import { createWatchedGarden } from "../../../src/admission/watched/garden.ts";
import { KnownShoot, toKnownShoot } from "../../../src/admission/watched/known.ts";
import { createWatchedKind } from "../../../src/admission/watched/watched-kind.ts";
import { judge, type AdmissionRequest } from "../../../src/admission/index.ts";
import { typeMeta, type KubeClient, type WatchEvent } from "../../../src/kube/index.ts";
import { createLogger } from "../../../src/log.ts";
import { eventually } from "../../support/eventually.ts";
import { keepObjects } from "../../support/kept-objects.ts";

const log = createLogger({ name: "admission", level: "silent" });

const shoot = (name: string, domain: string, uid = name) =>
  ({
    ...typeMeta(KnownShoot),
    metadata: { name, namespace: "garden-dev", uid, resourceVersion: "1", annotations: { a: "b" } },
    spec: {
      region: "local",
      dns: { domain, providers: [{ type: "x" }] },
      kubernetes: { version: "1.34.4", kubelet: {} },
      provider: {
        type: "local",
        infrastructureConfig: { a: "b" },
        workers: [{ name: "w", maximum: 1, machine: { type: "m" } }],
      },
    },
  }) as unknown as Shoot;

/** A garden whose watch tells what a test has it tell. */
function playGarden(...first: readonly Shoot[]) {
  const { client: kept } = keepObjects();
  const told = new PassThrough({ objectMode: true });
  const client = {
    ...kept,
    server: "https://garden",
    snapshot: async ({ kind }: { kind: string }) => ({ items: kind === "Shoot" ? first : [], resourceVersion: "1" }),
    async *watch({ kind }: { kind: string }, { signal }: { readonly signal: AbortSignal }) {
      signal.addEventListener("abort", () => told.end(), { once: true });
      if (kind === "Shoot") yield* told as AsyncIterable<WatchEvent<Shoot>>;
      else if (!signal.aborted) await once(signal, "abort");
    },
  } as unknown as KubeClient;
  return { client, tell: (event: WatchEvent<Shoot>) => void told.write(event) };
}

const domains = (shoots: readonly KnownShoot[]) => shoots.map(({ spec }) => spec.dns?.domain).toSorted();

test("nothing of a Shoot is remembered that is left to a provider, or that no rule reads", () => {
  const { metadata, spec } = toKnownShoot(shoot("a", "a.example.com"));
  expect(metadata).toEqual({ name: "a", namespace: "garden-dev", uid: "a", resourceVersion: "1" });
  expect(JSON.stringify(spec)).not.toMatch(/infrastructureConfig|providers|kubelet/);
});

test("an admitted object counts before the watch tells of it, and no longer once it was deleted", async () => {
  const { client, tell } = playGarden(shoot("a", "a.example.com"));
  const known = createWatchedKind({ client, type: KnownShoot, keep: toKnownShoot, log });
  known.start();
  await known.synced();
  known.note(shoot("b", "b.example.com"));
  known.note(shoot("a", "other.example.com"));
  expect(domains(await known.list("garden-dev"))).toEqual(["b.example.com", "other.example.com"]);
  expect(await known.list("garden-other")).toEqual([]);
  tell({ type: "ADDED", object: shoot("b", "b.example.com") });
  tell({ type: "DELETED", object: shoot("b", "b.example.com") });
  await eventually(async () => domains(await known.list()).join() === "other.example.com");
  await known.stop();
});

test("an admitted object that was never written counts until it is looked for in vain", async () => {
  const { client } = playGarden();
  let time = 0;
  const known = createWatchedKind({ client, type: KnownShoot, keep: toKnownShoot, log, time: () => time });
  known.start();
  await known.synced();
  known.note(shoot("b", "b.example.com"));
  time = 60_000;
  expect(await known.list()).toHaveLength(1);
  time = 60_001;
  expect(await known.list()).toEqual([]);
  await known.stop();
});

test("an admitted object that the watch does not tell of is read once, and forgotten when the watch would be out of date", async () => {
  const { client } = playGarden();
  let [time, reads] = [0, 0];
  const read = async () => {
    reads += 1;
    return shoot("b", "written.example.com");
  };
  const reading = { ...client, read: read as unknown as KubeClient["read"] };
  const known = createWatchedKind({ client: reading, type: KnownShoot, keep: toKnownShoot, log, time: () => time });
  known.start();
  await known.synced();
  known.note(shoot("b", "admitted.example.com"));
  for (time of [60_001, 60_002, 150_000]) expect(domains(await known.list())).toEqual(["written.example.com"]);
  expect(reads).toBe(1);
  time = 150_001;
  expect(await known.list()).toEqual([]);
  await known.stop();
});

test("before there was a list nothing is judged by, and the refusal names the kind and what to do", async () => {
  const { client } = playGarden();
  const known = createWatchedKind({ client, type: KnownShoot, keep: toKnownShoot, log });
  await expect(known.list()).rejects.toThrow(/cannot judge by Shoots: .* not been heard of yet: try again/);
});

test("what was only tried, or not admitted, does not count", async () => {
  const { client } = playGarden();
  const garden = createWatchedGarden(client, log);
  await garden.start();
  const ask = async (allowed: boolean, request: Partial<AdmissionRequest>) =>
    garden.noting(async () => judge(allowed ? [] : [{ field: "spec", message: "no" }]))({
      ...({ operation: "CREATE", object: shoot("b", "b.example.com"), ...request } as AdmissionRequest),
    });
  await ask(true, { dryRun: true });
  await ask(false, {});
  await ask(true, { operation: "DELETE" });
  expect(await garden.client.list(KnownShoot)).toEqual([]);
  await ask(true, {});
  expect(await garden.client.list(KnownShoot)).toHaveLength(1);
  await garden.stop();
});
