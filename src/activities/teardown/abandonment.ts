import { CONFIRM_DELETION_ANNOTATION } from "../../api/annotations.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import type { ShootRun } from "../../api/shoot/run.ts";
import { backupEntryName } from "../../api/extensions/backup-entry.ts";
import { appliedKinds, isClusterScoped } from "../../api/extensions/kinds.ts";
import { listExtensionObjects } from "../extensions/list.ts";
import {
  inWords,
  isConflict,
  refOf,
  refTo,
  Secret,
  unlessGone,
  type KubeClient,
  type ObjectRef,
} from "../../kube/index.ts";
import { backupEntrySecretName, GARDEN_NAMESPACE } from "../../api/names.ts";
import { fenced } from "../leadership/fenced-client.ts";
import { findActiveCluster } from "./pod-makers.ts";
import { Superseded } from "../superseded.ts";

/**
 * Deletes what extension controllers keep for a Shoot, without letting them act on what it stands for. Throws a
 * Superseded, and touches nothing, when an object says that this seed leads.
 */
export async function abandonObjects(seedClient: KubeClient, run: ShootRun): Promise<void> {
  const client = fenced(seedClient, run);
  // Read before the check of the leader: a Shoot that comes back later is given another Secret.
  const credentials = await seedClient.read(backupCredentialsRef(run));
  const abandoned = await findAbandoned(seedClient, run);
  const led = abandoned.find((object) => isLed(object, run));
  if (led !== undefined)
    throw new Superseded(
      `cannot abandon the extension objects of ${run.technicalID}: ${inWords(refOf(led))} says that Seed ${run.seedName} leads`,
    );
  const cluster = await findActiveCluster(
    seedClient,
    run.technicalID,
    `Seed ${run.seedName} does not lead this Shoot any more`,
  );
  if (cluster !== undefined) await unlessGone(client.patch(refOf(cluster.object), cluster.change));
  for (const object of abandoned) await abandon(client, refOf(object));
  if (credentials !== undefined) await client.remove(refOf(credentials), { uid: credentials.metadata.uid ?? "" });
  await releaseSecrets(client, run);
}

/**
 * Deletes what machine-controller-manager keeps of a Shoot's machines, without ending a machine; it must not run. What
 * credentials it holds are let go.
 */
export async function abandonMachines(client: KubeClient, run: ShootRun): Promise<void> {
  const namespaced = (await client.types()).filter(({ apiVersion }) => groupOf(apiVersion) === "machine.sapcloud.io");
  const objects = await Promise.all(namespaced.map((type) => client.list(type, { namespace: run.technicalID })));
  for (const object of objects.flat()) await abandon(client, refOf(object));
  await releaseSecrets(client, run);
}

/** They go with the namespace, unless a controller that was stopped holds them by a finalizer. */
async function releaseSecrets(client: KubeClient, { technicalID: namespace }: ShootRun): Promise<void> {
  const held = (await client.list(Secret, { namespace })).filter(
    ({ metadata }) => (metadata.finalizers ?? []).length > 0,
  );
  for (const secret of held) {
    const { uid } = secret.metadata;
    await unlessGone(client.patch(refOf(secret), { metadata: { uid, finalizers: null } }));
  }
}

/** What controllers hold with finalizers: every kind of Gardener's extensions, and what upstream's providers keep beside them. */
async function findAbandoned(seedClient: KubeClient, run: ShootRun): Promise<KubeObject[]> {
  const types = (await seedClient.types()).filter(
    ({ namespaced, apiVersion }) => namespaced && groups.has(groupOf(apiVersion)),
  );
  const objects = await Promise.all(types.map((type) => seedClient.list(type, { namespace: run.technicalID })));
  const elsewhere = appliedKinds.filter(isClusterScoped).map((kind) => listExtensionObjects(seedClient, run, kind));
  return [...objects, ...(await Promise.all(elsewhere))].flat();
}

const groups = new Set(["extensions.gardener.cloud", "machine.sapcloud.io", "resources.gardener.cloud"]);

const groupOf = (apiVersion: string): string => apiVersion.split("/")[0] ?? "";

/** The backups' credentials are beside no Shoot, so they do not go with its namespace. */
const backupCredentialsRef = ({ technicalID, uid }: ShootRun) =>
  refTo(Secret, { namespace: GARDEN_NAMESPACE, name: backupEntrySecretName(backupEntryName(technicalID, uid)) });

/** Whether the object says that this very seed leads under the run's epoch, or a later one. */
function isLed(object: KubeObject, run: ShootRun): boolean {
  const { leadership } = (object["spec"] ?? {}) as { leadership?: { value?: string; epoch?: number } };
  return leadership?.value === run.seedName && (leadership.epoch ?? 0) >= run.epoch;
}

/**
 * Deletes one object without its controller being asked; one that is gone is fine. A controller that puts its finalizer
 * back in between makes the deletion a conflict, and not a deletion of its own.
 */
export async function abandon(client: KubeClient, ref: ObjectRef): Promise<void> {
  const change = { metadata: { finalizers: null, annotations: { [CONFIRM_DELETION_ANNOTATION]: "true" } } };
  for (let attempt = 1; ; attempt += 1) {
    const free = await unlessGone(client.patch(ref, change));
    if (free === undefined) return;
    const { uid = "", resourceVersion = "" } = free.metadata;
    try {
      return await client.remove(ref, { uid, resourceVersion });
    } catch (error) {
      if (!isConflict(error) || attempt === MOST_ATTEMPTS) throw error;
    }
  }
}

const MOST_ATTEMPTS = 10;
