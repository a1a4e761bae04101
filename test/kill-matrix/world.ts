import { createHash } from "node:crypto";
import { holdersOf, parseRing } from "../../src/activities/state/ring.ts";
import { DATA_KEYS_ANNOTATION, STATE_KEY_ANNOTATION } from "../../src/api/annotations.ts";
import { KEPT_SNAPSHOTS_ANNOTATION, Seed, type Shoot } from "../../src/api/index.ts";
import type { KubeObject } from "../../src/api/schema/meta.ts";
import { queryRecords } from "../../src/provider-local/dns/name-server.ts";
import { Node, Secret, type KubeClient, type ResourceType } from "../../src/kube/index.ts";
import type { Lab } from "./lab.ts";
import { seedAddresses } from "./network.ts";
import type { LabShoot } from "./shoots.ts";

/** What there is of a Shoot everywhere, as lines that are the same for the same outcome, by where they were found. */
export type World = Readonly<Record<string, string>>;

/** Looks at everything. Seeds are named by their part in the migration, epochs and addresses by whose they are. */
export async function describeWorld(
  lab: Lab,
  shoot: LabShoot,
  seeds: { source: string; destination: string },
): Promise<World> {
  const { status = {} } = (await shoot.read()) ?? {};
  const rename = await createRenaming(lab, seeds, status.leadership?.epoch ?? 1);
  const world: Record<string, unknown> = {
    "garden Shoot": describeStatus(status),
    ...(await describeNames(lab, shoot)),
    cloud: lab.cloud.list(shoot.technicalID),
    nodes: (await lab.shoots.list(Node)).map(({ metadata }) => `${metadata.name} ${metadata.uid}`),
    ...describeObjects("garden", (await objectsOf(lab.garden.client, shoot.namespace)).filter(isOf(shoot))),
  };
  for (const part of ["source", "destination"] as const) {
    const client = lab.seeds.get(seeds[part])?.client;
    if (client === undefined) throw new Error(`there is no seed ${seeds[part]}`);
    const { technicalID } = shoot;
    const objects = await Promise.all([objectsOf(client, technicalID), clusterScoped(client, technicalID)]);
    Object.assign(world, describeObjects(part, objects.flat()));
  }
  return Object.fromEntries(Object.entries(world).map(([key, value]) => [rename(key), rename(JSON.stringify(value))]));
}

function describeStatus({ lastOperation, lastErrors = [], seeds, seedName, leadership }: ShootStatus) {
  const { type, state } = lastOperation ?? {};
  return { lastOperation: { type, state }, lastErrors, seeds, seedName, leader: leadership?.seed };
}

type ShootStatus = NonNullable<Shoot["status"]>;

async function describeNames({ dns: { zone, server } }: Lab, { name }: LabShoot) {
  return {
    "dns leader": await queryRecords(server, { type: "TXT", name: `${name}.dev.leadership.${zone}` }),
    "dns internal": await queryRecords(server, { type: "A", name: `api.${name}.dev.internal.${zone}` }),
    "dns external": await queryRecords(server, { type: "A", name: `api.${name}.dev.${zone}` }),
  };
}

const describeObjects = (where: string, objects: readonly KubeObject[]) =>
  Object.fromEntries(objects.map((object) => [`${where} ${titleOf(object)}`, bodyOf(object)]));

/** The secrets that every migration has to bring along, by name: a hash of what is in them. */
export async function describeSecrets(lab: Lab, { technicalID }: LabShoot, seed: string): Promise<World> {
  const secrets = await lab.seeds
    .get(seed)
    ?.client.list(Secret, { namespace: technicalID, labelSelector: "persist=true" });
  return Object.fromEntries(
    (secrets ?? []).map(({ metadata, ...secret }) => [metadata.name, hash(JSON.stringify(secret["data"]))]),
  );
}

/** What differs between two worlds, a line each; nothing when they are the same. */
export function compareWorlds(expected: World, found: World): string[] {
  const keys = [...new Set([...Object.keys(expected), ...Object.keys(found)])].sort();
  return keys.flatMap((key) => {
    if (expected[key] === found[key]) return [];
    if (found[key] === undefined) return [`${key}: missing`];
    if (expected[key] === undefined) return [`${key}: not expected`];
    return [`${key}: ${difference(expected[key], found[key])}`];
  });
}

/** What comes and goes with every run, and what says nothing of the outcome. */
const ignored = new Set(["Event", "Pod", "ReplicaSet", "ControllerRevision", "Lease", "Endpoints", "EndpointSlice"]);

async function objectsOf(client: KubeClient, namespace: string): Promise<KubeObject[]> {
  const isListed = ({ namespaced, verbs, kind }: ResourceType) =>
    namespaced && verbs.includes("list") && !ignored.has(kind);
  const types = (await client.types()).filter(isListed);
  const objects = (await Promise.all(types.map((type) => client.list(type, { namespace })))).flat();
  return objects.filter((object) => !isByTheClock(object));
}

/** A scheduled snapshot may have been taken or not. */
const isByTheClock = ({ metadata: { ownerReferences = [] } }: KubeObject): boolean =>
  ownerReferences.some(({ kind }) => kind === "CronJob");

async function clusterScoped(client: KubeClient, technicalID: string): Promise<KubeObject[]> {
  const extensions = "extensions.gardener.cloud/v1alpha1";
  const types = [
    { apiVersion: "v1", kind: "Namespace" },
    { apiVersion: extensions, kind: "Cluster" },
    { apiVersion: extensions, kind: "BackupEntry" },
  ];
  const found = (await Promise.all(types.map((type) => client.list(type)))).flat();
  return found.filter(({ metadata }) => metadata.name.startsWith(technicalID));
}

/** In the garden, the Shoot's own objects are beside those of others. */
const isOf =
  ({ name: shoot, technicalID }: LabShoot) =>
  ({ kind, metadata: { name } }: KubeObject): boolean =>
    kind !== "Shoot" &&
    (name === shoot || name.startsWith(`${shoot}.`) || name.startsWith(`${shoot}-`) || name.startsWith(technicalID));

/** Jobs are named after the run that made them. */
const titleOf = ({ kind, metadata: { name } }: KubeObject): string =>
  `${kind} ${kind === "Job" ? name.replace(/(-\d+)?-[0-9a-f]{8}$/, "") : name}`;

/** Names and keys of what is secret, or differs by its nature; everything of what was asked for. */
function bodyOf({ kind, metadata, ...object }: KubeObject): unknown {
  const { name, labels, annotations = {}, finalizers = [], deletionTimestamp } = metadata;
  const kept = Object.entries(annotations)
    .filter(([key]) => !volatileAnnotations.test(key))
    .map(([key, value]) => [key, describers[key]?.(value) ?? value]);
  const head = {
    kind,
    name,
    labels,
    annotations: Object.fromEntries(kept),
    finalizers,
    deleted: deletionTimestamp !== undefined,
  };
  const { status, data, spec, ...rest } = object as Record<string, object | undefined>;
  if (kind === "Secret") return { ...head, keys: Object.keys(data ?? {}).sort() };
  if (kind === "ShootState") return { ...head, parts: partsOf(spec) };
  if (kind === "Cluster") return head;
  if (kind === "Job") return { labels };
  const { lastOperation, lastError } = (status ?? {}) as {
    lastOperation?: { type: string; state: string };
    lastError?: object;
  };
  const outcome =
    lastOperation === undefined ? {} : { outcome: { type: lastOperation.type, state: lastOperation.state, lastError } };
  return { ...head, ...outcome, data, spec: withoutVolatile(spec), ...rest };
}

/** Scheduled snapshots may be protected as well, or one that nobody has recorded before somebody died. */
const hasFinalSnapshot = (names: string): boolean =>
  names.split(",").some((name) => name.startsWith("final-snapshot-"));

/** Whose a key is, by its id: the end of that is random. */
const holderOf = (kid: string): string => kid.replace(/-[0-9a-f]{8}$/, "");

/** What an annotation comes to, where its value differs from run to run. */
const describers: Readonly<Record<string, (value: string) => unknown>> = {
  [KEPT_SNAPSHOTS_ANNOTATION]: hasFinalSnapshot,
  [STATE_KEY_ANNOTATION]: (kids) => kids.split(",").map(holderOf),
  [DATA_KEYS_ANNOTATION]: (ring) => holdersOf(parseRing(ring) ?? {}).map(holderOf),
};

/** Operation ids, waits, and what follows from keys that are made anew. */
const volatileAnnotations =
  /^(gardener\.cloud\/timestamp|perennial\.dev\/(wait|epoch|restored|restored-in-epoch|restoring-from)$|kubectl\.kubernetes\.io|pv\.kubernetes\.io|deployment\.kubernetes\.io)/;

function partsOf(spec: object | undefined): unknown {
  const {
    gardener = [],
    extensions = [],
    resources = [],
  } = (spec ?? {}) as Record<string, readonly { name: string; kind?: string; type?: string }[] | undefined>;
  const named = (list: readonly { name: string; kind?: string; type?: string }[]) =>
    list.map(({ kind, type, name }) => [kind, type, name].filter((one) => one !== undefined).join(" ")).sort();
  return { gardener: named(gardener), extensions: named(extensions), resources: resources.length };
}

function withoutVolatile(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutVolatile);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).filter(([key]) => !volatileFields.test(key));
  return Object.fromEntries(entries.map(([key, one]) => [key, withoutVolatile(one)]));
}

/** Addresses that a cluster gives away, ids, and checksums of certificates. */
const volatileFields =
  /^(clusterIPs?|nodePort|healthCheckNodePort|uid|epoch|checksum\/.*|volumeName|controller-uid|batch\.kubernetes\.io\/controller-uid)$/;

async function createRenaming(lab: Lab, seeds: { source: string; destination: string }, epoch: number) {
  const known = (["source", "destination"] as const).map(async (part) => {
    const name = seeds[part];
    const seed = await lab.garden.client.read(Seed, { name });
    return [
      [name, part],
      [seedAddresses[Number(name.slice("seed-".length)) - 1] ?? "", `address of ${part}`],
      [seed?.metadata.uid ?? name, `uid of ${part}`],
    ];
  });
  const pairs = [...(await Promise.all(known)).flat(), [`Epoch=${epoch}`, "Epoch=now"]];
  return (text: string): string => pairs.reduce((all, [from = "", to = ""]) => all.replaceAll(from, to), text);
}

function difference(expected: string, found: string): string {
  const start = [...expected].findIndex((character, index) => character !== found[index]);
  const from = Math.max(0, start - 60);
  return `…${found.slice(from, start + 120)}… instead of …${expected.slice(from, start + 120)}…`;
}

const hash = (text: string): string => createHash("sha256").update(text).digest("hex");
