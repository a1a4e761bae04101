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

const shoot = (name: string, domain: string, uid = name, resourceVersion = "1") =>
  ({
    ...typeMeta(KnownShoot),
    metadata: { name, namespace: "garden-dev", uid, resourceVersion, annotations: { a: "b" } },
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

const inNamespace = (namespace: string, one: Shoot): Shoot => ({ ...one, metadata: { ...one.metadata, namespace } });

async function started(client: KubeClient, time?: () => number) {
  const known = createWatchedKind({ client, type: KnownShoot, keep: toKnownShoot, log, ...(time && { time }) });
  known.start();
  await known.synced();
  return known;
}

const domains = (shoots: readonly KnownShoot[]) => shoots.map(({ spec }) => spec.dns?.domain).toSorted();

test("nothing of a Shoot is remembered that is left to a provider, or that no rule reads", () => {
  const { metadata, spec } = toKnownShoot(shoot("a", "a.example.com"));
  expect(metadata).toEqual({ name: "a", namespace: "garden-dev", uid: "a", resourceVersion: "1" });
  expect(JSON.stringify(spec)).not.toMatch(/infrastructureConfig|providers|kubelet/);
});

test("an admitted object counts before the watch tells of it, besides what is stored, and no longer once it was deleted", async () => {
  const { client, tell } = playGarden(shoot("a", "a.example.com"));
  const known = await started(client);
  known.note(shoot("b", "b.example.com"));
  known.note(shoot("a", "other.example.com", "a2"));
  expect(domains(known.list("garden-dev"))).toEqual(["a.example.com", "b.example.com", "other.example.com"]);
  expect(known.list("garden-other")).toEqual([]);
  tell({ type: "ADDED", object: shoot("b", "written.example.com") });
  await eventually(() => domains(known.list()).join() === "a.example.com,other.example.com,written.example.com");
  tell({ type: "DELETED", object: shoot("b", "written.example.com") });
  await eventually(() => domains(known.list()).join() === "a.example.com,other.example.com");
  await known.stop();
});

test("who asks for one object twice has both versions of it counted, and a stored one is never counted as less", async () => {
  const { client } = playGarden(shoot("a", "a.example.com"));
  const known = await started(client);
  known.note(shoot("b", "b.example.com", "b1"));
  known.note(shoot("b", "small.example.com", "b2"));
  known.note(shoot("a", "smaller.example.com"), shoot("a", "a.example.com"));
  expect(domains(known.list())).toEqual(["a.example.com", "b.example.com", "small.example.com", "smaller.example.com"]);
  await known.stop();
});

test("an admitted change counts until a later version is stored than the one that it changes", async () => {
  const { client, tell } = playGarden(shoot("a", "8.example.com", "a", "8"));
  const known = await started(client);
  known.note(shoot("a", "10.example.com", "a", "9"), shoot("a", "9.example.com", "a", "9"));
  tell({ type: "MODIFIED", object: shoot("a", "9.example.com", "a", "9") });
  await eventually(() => domains(known.list()).join() === "10.example.com,9.example.com");
  tell({ type: "MODIFIED", object: shoot("a", "9.example.com", "a", "10") }); // another's: an API server asks about ours again
  await eventually(() => domains(known.list()).join() === "9.example.com");
  await known.stop();
});

test("an object that is deleted and made anew in one moment counts as it is made", async () => {
  const { client, tell } = playGarden(shoot("a", "a.example.com", "a1"));
  const known = await started(client);
  known.note(shoot("a", "anew.example.com", "a2"));
  tell({ type: "DELETED", object: shoot("a", "a.example.com", "a1") });
  await eventually(() => domains(known.list()).join() === "anew.example.com");
  await known.stop();
});

test("a change of what no rule reads counts for nothing", async () => {
  const { client } = playGarden(shoot("a", "a.example.com"));
  const known = await started(client);
  const annotated = { ...shoot("a", "a.example.com"), status: { technicalID: "x" } } as unknown as Shoot;
  expect(known.note(annotated, shoot("a", "a.example.com"))).toBe(true);
  expect(known.list()).toHaveLength(1);
  await known.stop();
});

test("an admitted object that was never written counts until the watch would have told of it, and no question is asked for it", async () => {
  const { client, tell } = playGarden();
  let time = 0;
  const read = () => Promise.reject(new Error("nothing is read"));
  const known = await started({ ...client, read }, () => time);
  for (let n = 0; n < 100; n += 1) known.note(shoot(`n${n}`, `n${n}.example.com`));
  const hear = async (at: number) => {
    time = at;
    tell({ type: "ADDED", object: shoot("told", `${at}.example.com`, "told", String(at)) });
    await eventually(() => domains(known.list()).includes(`${at}.example.com`));
  };
  time = 140_000; // nothing was heard since
  expect(known.list()).toHaveLength(100);
  await hear(70_000);
  expect(known.list()).toHaveLength(101);
  await hear(70_001);
  expect(domains(known.list())).toEqual(["70001.example.com"]);
  await known.stop();
});

test("a namespace has so many admitted objects at once that are not written, and others of their own meanwhile", async () => {
  const { client, tell } = playGarden();
  let time = 0;
  const known = await started(client, () => time);
  const noted = Array.from({ length: 1_000 }, (_, n) => known.note(shoot(`n${n}`, `n${n}.example.com`)));
  const most = noted.indexOf(false);
  expect(most).toBeGreaterThan(100);
  expect(known.list()).toHaveLength(most);
  expect(known.note(inNamespace("garden-other", shoot("a", "a.example.com")))).toBe(true);
  tell({ type: "ADDED", object: shoot("n0", "n0.example.com") });
  await eventually(() => known.note(shoot("next", "next.example.com")));
  expect(known.note(shoot("last", "last.example.com"))).toBe(false);
  time = 140_000;
  expect(known.note(shoot("last", "last.example.com"))).toBe(false);
  tell({ type: "ADDED", object: shoot("n1", "n1.example.com") });
  await eventually(() => known.list().length === 2); // both that were told of
  expect(known.note(shoot("last", "last.example.com"))).toBe(true);
  await known.stop();
});

test("when all namespaces together have too many, each may still have one", async () => {
  const { client, tell } = playGarden();
  let time = 0;
  const known = await started(client, () => time);
  const note = (namespace: string, n: number) => known.note(inNamespace(namespace, shoot(`n${n}`, "n.example.com")));
  for (let namespace = 0; namespace < 40; namespace += 1) {
    let n = 0;
    while (note(`garden-${namespace}`, n)) n += 1;
  }
  expect(known.list().length).toBeLessThan(4_200);
  expect([note("garden-victim", 1), note("garden-victim", 2)]).toEqual([true, false]);
  time = 70_001;
  tell({ type: "ADDED", object: shoot("told", "told.example.com") });
  await eventually(() => known.list().length === 1);
  expect([note("garden-victim", 1), note("garden-victim", 2)]).toEqual([true, true]); // all have their room back
  await known.stop();
});

test("copies are judged by until 150 s after the API server was heard of last, and again once it is heard of", async () => {
  const { client, tell } = playGarden(shoot("a", "a.example.com"));
  let time = 1_000;
  const known = await started(client, () => time);
  time += 150_000;
  expect(known.list()).toHaveLength(1);
  time += 1;
  expect(() => known.list()).toThrow(/cannot judge by Shoots: .* not been heard of for 150 s: try again/);
  tell({ type: "BOOKMARK", object: shoot("", "") });
  await eventually(() => expect(known.list()).toHaveLength(1));
  time += 150_000;
  expect(known.list()).toHaveLength(1);
  await known.stop();
});

test("before there was a list nothing is judged by, and the refusal names the kind and what to do", async () => {
  const { client } = playGarden();
  const known = createWatchedKind({ client, type: KnownShoot, keep: toKnownShoot, log });
  expect(() => known.list()).toThrow(/cannot judge by Shoots: .* not been heard of yet: try again/);
});

test("what was only tried, or not admitted, does not count; one too many is refused, with the remedy", async () => {
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
  await ask(true, { operation: "UPDATE", oldObject: shoot("b", "b.example.com") }); // of what no rule reads
  expect(await garden.client.list(KnownShoot)).toEqual([]);
  await ask(true, {});
  expect(await garden.client.list(KnownShoot)).toHaveLength(1);
  const asked = await Promise.all(Array.from({ length: 200 }, async () => ask(true, {})));
  const refused = asked.find(({ allowed }) => !allowed);
  expect(refused).toMatchObject({ forbidden: true, causes: [{ field: "metadata.namespace" }] });
  expect(JSON.stringify(refused)).toContain("too many Shoots of namespace garden-dev were admitted of late");
  await garden.stop();
});
