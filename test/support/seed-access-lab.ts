import { readFile } from "node:fs/promises";
import { expect } from "vitest";
import { parseAllDocuments } from "yaml";
import { backupEntryName } from "../../src/api/extensions/backup-entry.ts";
import { Seed, Shoot } from "../../src/api/index.ts";
import type { BackupEntry, KubeObject, ShootState } from "../../src/api/index.ts";
import { createSeedAccessController } from "../../src/controllers/seed-access/seed-access.ts";
import { createKubeClient, refTo, type KubeClient, type Secret } from "../../src/kube/index.ts";
import { createLogger } from "../../src/log.ts";
import { admissionInForce } from "./admission-in-force.ts";
import type { ControlPlane, User } from "./control-plane.ts";
import { applyGarden, createShoot } from "./garden-objects.ts";
import { eventually } from "./eventually.ts";

const log = createLogger({ name: "test", level: "silent" });

/** The namespace of the project whose Shoots the tests of seeds' rights make. */
export const namespace = "garden-dev";

/** The API version of Shoots and Seeds. */
export const CORE = "core.gardener.cloud/v1beta1";

/** A garden with its policies, two Seeds and their identities, and the controller that gives them rights. */
export type SeedAccessLab = Awaited<ReturnType<typeof createSeedAccessLab>>;

/** What of an operation and of the leadership decides about rights. */
export interface Operation {
  readonly previousSeed?: string;
  readonly takeover?: boolean;
  readonly type?: string;
  readonly state?: string;
}

/** Makes the garden; the controller starts when it is told to. */
export async function createSeedAccessLab(cluster: ControlPlane) {
  const admin = cluster.client;
  const clients: KubeClient[] = [];
  const as = (user: User) => {
    const client = createKubeClient({ kubeconfig: cluster.kubeconfigOf(user) });
    clients.push(client);
    return client;
  };
  const [manager, seed1, seed2] = [as("manager"), as("seed-1"), as("seed-2")];
  await applyGarden(admin);
  await admin.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: "perennial" } });
  for (const file of ["manager-rbac", "seed-access", "seed-restriction", "extension-access"])
    await applyManifest(admin, file);
  await admissionInForce(admin, ["policy"]);
  const { spec } = (await admin.read(Seed, { name: "seed-1" })) ?? {};
  await admin.apply({ apiVersion: CORE, kind: "Seed", metadata: { name: "seed-2" }, spec } as Seed);
  const uids = new Map((await admin.list(Seed)).map(({ metadata }) => [metadata.name, metadata.uid ?? ""]));
  await admin.apply(secret("leadership", "garden"));
  let controller: ReturnType<typeof createSeedAccessController> | undefined;

  /** A Seed's bucket is named after the Seed's uid. */
  const bucketOf = (seedName: string): string => uids.get(seedName) ?? `bucket-of-${seedName}`;

  const entryOf = (shoot: string, uid: string, seedName: string): BackupEntry => ({
    apiVersion: CORE,
    kind: "BackupEntry",
    metadata: { name: backupEntryName(`shoot--dev--${shoot}`, uid), namespace },
    spec: { bucketName: bucketOf(seedName), seedName, shootRef: { name: shoot, namespace } },
  });

  /** Says in the Shoot's status who leads it, in which epoch, and what is done with it. */
  const lead = (
    name: string,
    seed: string,
    epoch: number,
    { type = "Reconcile", state: how = "Succeeded", ...leadership }: Operation = {},
  ) => {
    const lastUpdateTime = "2026-01-01T10:00:00Z";
    const status = {
      seedName: seed,
      technicalID: `shoot--dev--${name}`,
      leadership: { record: `${name}.example.org`, seed, epoch, leaseSeconds: 60, ...leadership },
      lastOperation: { type, state: how, progress: 100, description: "", lastUpdateTime },
    };
    return admin.patch(shootRef(name), { status }, { subresource: "status" });
  };

  return {
    admin,
    manager,
    seed1,
    seed2,
    clients,
    bucketOf,
    entryOf,
    lead,
    /** Makes a Shoot that the Seed leads, with its backups there. */
    async place(name: string, seedName: string, resources: Shoot["spec"]["resources"] = []): Promise<void> {
      const run = await createShoot(admin, name, { seedName, resources });
      await lead(name, seedName, 1);
      await admin.apply(entryOf(name, run.uid, seedName));
      await admin.apply(state(name));
    },
    start(): void {
      controller = createSeedAccessController({ gardenClient: manager, log });
      controller.start();
    },
    stopController: async () => await controller?.stop(),
    async stop(): Promise<void> {
      await controller?.stop();
      await Promise.all(clients.map((client) => client.close()));
    },
  };
}

async function applyManifest(admin: KubeClient, file: string): Promise<void> {
  const text = await readFile(new URL(`../../deploy/garden/${file}.yaml`, import.meta.url), "utf8");
  for (const document of parseAllDocuments(text)) {
    const object = document.toJS() as KubeObject;
    const home = object.kind === "Role" || object.kind === "RoleBinding" ? { namespace: "perennial" } : {};
    await admin.apply({ ...object, metadata: { ...home, ...object.metadata } });
  }
}

/** Waits until what is looked at does not fail any more: rights follow a moment later. */
export const soon = <T>(look: () => Promise<T>) => eventually(look);

/** Expects the API server's refusal. */
export const forbidden = async (attempt: Promise<unknown>) =>
  await expect(attempt).rejects.toMatchObject({ status: 403 });

export const shootRef = (name: string) => refTo(Shoot, { namespace, name });

export const secret = (name: string, of = namespace, type = "Opaque"): Secret => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name, namespace: of },
  type,
});

export const configMap = (name: string): KubeObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, namespace },
});

export const state = (name: string, shoot = name): ShootState => ({
  apiVersion: CORE,
  kind: "ShootState",
  metadata: { name, namespace, labels: { shoot } },
  spec: {},
});
