import { chmod, mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { PROVISIONED_BY_ANNOTATION, PROVISIONER_ANNOTATION } from "../api/annotations.ts";
import { LOCAL_PROVISIONER } from "../api/names.ts";
import type { KubeObject } from "../api/index.ts";
import {
  createController,
  createReflector,
  isAlreadyExists,
  PersistentVolume,
  PersistentVolumeClaim,
  refTo,
  StorageClass,
  typeMeta,
  type KubeClient,
  type NamespacedKey,
} from "../kube/index.ts";
import type { Logger } from "../log.ts";

/** A part of this process that runs until it is stopped. */
export interface Runner {
  start(): void;
  synced(): Promise<void>;
  stop(): Promise<void>;
}

/** Gives each PersistentVolumeClaim of our provisioner a directory below `directory`, and removes it with the volume. */
export function createVolumeProvisioner(o: { client: KubeClient; directory: string; log: Logger }): Runner {
  const log = o.log.child({ controller: "volumes" });
  const deps = { ...o, log };
  const claims = createController({
    name: "volume-claims",
    log,
    reconcile: (key: NamespacedKey) => provision(deps, key),
  });
  const volumes = createController({ name: "volumes", log, reconcile: (key) => reclaim(deps, key) });
  const watchClaims = createReflector(o.client, PersistentVolumeClaim, {
    log,
    onEvent: ({ object: { metadata } }) => claims.enqueue({ name: metadata.name, namespace: metadata.namespace }),
  });
  const watchVolumes = createReflector(o.client, PersistentVolume, {
    log,
    onEvent: ({ object: { metadata } }) => volumes.enqueue({ name: metadata.name }),
  });
  const parts = [claims, volumes, watchClaims, watchVolumes];
  return {
    start: () => parts.forEach((part) => part.start()),
    synced: async () => void (await Promise.all([watchClaims.synced(), watchVolumes.synced()])),
    stop: async () => void (await Promise.all(parts.map((part) => part.stop()))),
  };
}

interface Deps {
  readonly client: KubeClient;
  readonly directory: string;
  readonly log: Logger;
}

/** The cluster's own controller says, by an annotation, that the claim waits for us. */
function isWaiting({ metadata, spec }: PersistentVolumeClaim): boolean {
  const provisioner = metadata.annotations?.[PROVISIONER_ANNOTATION];
  return provisioner === LOCAL_PROVISIONER && metadata.deletionTimestamp === undefined && spec.volumeName === undefined;
}

async function provision({ client, directory, log }: Deps, key: NamespacedKey): Promise<void> {
  const claim = await client.read(PersistentVolumeClaim, key);
  if (!claim || !isWaiting(claim)) return;
  const name = claim.spec.storageClassName ?? "";
  const storageClass = await client.read(StorageClass, { name });
  const path = join(directory, claim.metadata.uid ?? "");
  await mkdir(directory, { recursive: true, mode: 0o700 });
  await mkdir(path, { recursive: true });
  // Whatever user a pod runs as can write to it, as to any volume; the folder above lets no other user in.
  await chmod(path, 0o777);
  try {
    await client.create(renderVolume(claim, path, storageClass?.reclaimPolicy ?? "Delete"));
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
  log.info({ ...key, path }, "volume provisioned");
}

function renderVolume(
  { metadata, spec }: PersistentVolumeClaim,
  path: string,
  persistentVolumeReclaimPolicy: string,
): KubeObject {
  const { name, namespace, uid } = metadata;
  return {
    ...typeMeta(PersistentVolume),
    metadata: { name: `pvc-${uid}`, annotations: { [PROVISIONED_BY_ANNOTATION]: LOCAL_PROVISIONER } },
    spec: {
      capacity: { storage: spec.resources?.requests?.["storage"] ?? "1Gi" },
      accessModes: spec.accessModes ?? ["ReadWriteOnce"],
      storageClassName: spec.storageClassName ?? "",
      persistentVolumeReclaimPolicy,
      claimRef: { apiVersion: "v1", kind: "PersistentVolumeClaim", name, namespace, uid },
      hostPath: { path, type: "Directory" },
    },
  };
}

async function reclaim({ client, directory, log }: Deps, { name }: { name: string }): Promise<void> {
  const volume = await client.read(PersistentVolume, { name });
  if (volume?.metadata.annotations?.[PROVISIONED_BY_ANNOTATION] !== LOCAL_PROVISIONER) return;
  if (volume.status?.phase !== "Released" || volume.spec.persistentVolumeReclaimPolicy !== "Delete") return;
  const { path = "" } = volume.spec.hostPath ?? {};
  if (!path.startsWith(`${directory}/`))
    throw new Error(`cannot remove volume ${name}: ${path} is not one of our directories`);
  await rm(path, { recursive: true, force: true });
  await client.remove(refTo(PersistentVolume, { name }));
  log.info({ volume: name }, "volume removed");
}
