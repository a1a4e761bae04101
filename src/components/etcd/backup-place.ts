import { findObjectStore, type ObjectStore } from "../../api/object-stores.ts";
import type { Step } from "./backup-pod.ts";
import type { Seed } from "../../api/index.ts";
import type { Flags } from "../command-line.ts";
import { poolsOf, type ControlPlaneContext } from "../context.ts";
import { backupEntryName } from "../../api/extensions/backup-entry.ts";
import { BACKUP_PLACE } from "../../api/names.ts";
import { environmentOf, pathIn, rclone, type Remote } from "./rclone.ts";

/** Where a Shoot's snapshots are kept, as pods with a folder `/backup` see it. */
export interface BackupPlace {
  /** What is mounted at `/backup`, for pods that write there or only read. */
  readonly volume: (options?: { readOnly?: true }) => object;
  /** Brings a file from the folder to its place, and compares byte by byte what is there with it; `what` is in the steps' names. */
  readonly keep: (file: string, env?: readonly object[], what?: string) => Step[];
  /** Deletes the snapshots that retention no longer keeps, once a newer one is there and was read. */
  readonly tidy: () => Step[];
  /** Brings a snapshot from its place into the folder; fails when there is none of that name. */
  readonly fetch: (snapshot: string) => Step[];
}

/** A bucket can be asked what is in it: no pod that reaches one sees that in its folder. */
export interface BucketPlace extends BackupPlace {
  /** Prints the names of the Shoot's snapshots, one a line. A folder that is not there looks like an empty one. */
  readonly list: () => Step[];
}

/** The container whose log names the snapshots in a bucket. */
export const LIST_CONTAINER = "list";

/** What the last snapshots of a Shoot on its seeds begin with; the others are named after the Jobs that took them, too. */
export const FINAL_SNAPSHOT = "final-snapshot";

/** What the name of a snapshot's bundle has behind that of its snapshot. */
export const BUNDLE_SUFFIX = ".bundle";

/** The ConfigMap in the Shoot's namespace, and its key, that list by commas the snapshots which a bucket is to keep. */
export const KEPT_SNAPSHOTS = { name: "kept-snapshots", key: "names" } as const;

/** The folder, in the container that needs it. */
export const backupMount = (options: { readOnly?: true } = {}) => ({
  name: "backup",
  mountPath: "/backup",
  ...options,
});

/** The place that the Seed's provider of backups offers: a bucket, where it is an object store that we know, else a claim. */
export const backupPlace = (context: ControlPlaneContext): BackupPlace => ownBucket(context) ?? claimPlace;

/** The bucket of the Seed that a Shoot comes from, through the Secret that the controller of the BackupEntry `source-…` makes. */
export const sourcePlace = (context: ControlPlaneContext, store: ObjectStore): BucketPlace =>
  bucketPlace(context, { name: "source", store, secret: "source-etcd-backup" });

/** The Seed's own bucket; undefined where backups are reached through a claim. */
export function ownBucket(context: ControlPlaneContext): BucketPlace | undefined {
  const store = storeOf(context);
  return store && bucketPlace(context, { name: "store", store, secret: BACKUP_PLACE });
}

/** The object store of the backups; undefined where there are none, or they are reached through a claim. */
export const storeOf = (context: ControlPlaneContext): ObjectStore | undefined =>
  findObjectStore(backupSettings(context)?.provider ?? "");

/** Where backups are kept, in the words of the Seed that carries the control plane or of the pool whose nodes do. */
export function backupSettings(
  context: Pick<ControlPlaneContext, "shoot" | "nodes" | "seed">,
): BackupSettings | undefined {
  if (context.nodes === undefined) return context.seed?.spec.backup;
  return poolsOf(context).find(({ controlPlane }) => controlPlane !== undefined)?.controlPlane?.backup;
}

type BackupSettings = NonNullable<Seed["spec"]["backup"]>;

/** The provider of the BackupEntry binds the claim, and takes away old snapshots. */
const claimPlace: BackupPlace = {
  volume: (options) => ({ name: "backup", persistentVolumeClaim: { claimName: BACKUP_PLACE, ...options } }),
  keep: () => [],
  tidy: () => [],
  fetch: () => [],
};

/** A bucket, in which the names of what the Shoot has begin with that of its BackupEntry: its controller removes just that. */
function bucketPlace(context: ControlPlaneContext, remote: Remote): BucketPlace {
  const { namespace, shoot, images } = context;
  // Where a folder is meant, it ends with a slash: rclone then does not ask whether it is an object, and take a refusal for yes.
  const folder = pathIn(remote, backupEntryName(namespace, shoot.metadata.uid ?? ""));
  const step = (name: string, command: readonly string[], volumeMounts: readonly object[]) => ({
    name,
    image: images.rclone,
    command,
    volumeMounts,
    env: environmentOf(remote),
  });
  return {
    volume: () => ({ name: "backup", emptyDir: {} }),
    keep: (file, env = [], what = "") =>
      [
        step(`upload${what}`, rclone(["copy", "/backup", `${folder}/`], { include: `/${file}`, ...UPLOAD }), READ_ONLY),
        step(
          `compare${what}`,
          rclone(["check", "/backup", `${folder}/`], { include: `/${file}`, ...COMPARISON }),
          READ_ONLY,
        ),
      ].map((one) => ({ ...one, env: [...env, ...one.env] })),
    tidy: () => {
      if (isImmutable(context)) return [];
      const expire = (name: string, { filters = [], ...flags }: Expiry) =>
        step(name, rclone(["delete", `${folder}/`, ...filters.map((filter) => `--filter=${filter}`)], flags), []);
      const steps =
        context.nodes === undefined
          ? [expire("expire", EXPIRY)]
          : [expire("expire", EXPIRY_BESIDE_BUNDLES), expire("expire-bundles", EXPIRY_OF_BUNDLES)];
      return steps.map((one) => ({ ...one, env: [KEPT, ...one.env] }));
    },
    fetch: (snapshot) => [
      step("download", rclone(["copyto", `${folder}/${snapshot}`, `/backup/${snapshot}`], DOWNLOAD), [backupMount()]),
    ],
    list: () => [step(LIST_CONTAINER, rclone(["lsf", `${folder}/`], LISTING), [])],
  };
}

const READ_ONLY = [backupMount({ readOnly: true })];

/** Contents count, not times; what has its name in the bucket already is never replaced. (Copying file to file would.) */
const UPLOAD = { checksum: true, immutable: true, "no-traverse": true };

const COMPARISON = { download: true, "one-way": true };

/** Nothing to be found is no error to rclone unless it is told so. */
const DOWNLOAD = { "error-on-no-transfer": true };

const LISTING = { "files-only": true, include: "/*.db" };

/**
 * Snapshots stay for three days, last ones as long as the Shoot, and those that are recorded as long as they are. A
 * bucket's own times cost no request for each object.
 */
const EXPIRY: Expiry = {
  "min-age": "72h",
  exclude: `/{${FINAL_SNAPSHOT}-*,$(KEPT)}`,
  "use-server-modtime": true,
};

/** Where bundles lie beside snapshots. */
const EXPIRY_BESIDE_BUNDLES: Expiry = { ...EXPIRY, exclude: `/{${FINAL_SNAPSHOT}-*,*${BUNDLE_SUFFIX},$(KEPT)}` };

/** A bundle was there before its snapshot and outlives it, by more than an upload takes. */
const EXPIRY_OF_BUNDLES: Expiry = {
  "min-age": "73h",
  filters: [`- /{${FINAL_SNAPSHOT}-*,$(KEPT)}${BUNDLE_SUFFIX}`, `+ /*${BUNDLE_SUFFIX}`, "- *"],
  "use-server-modtime": true,
};

type Expiry = Flags & { readonly filters?: readonly string[] };

/** Before anything is recorded, nothing is kept beyond its time. */
const KEPT = {
  name: "KEPT",
  valueFrom: { configMapKeyRef: { name: KEPT_SNAPSHOTS.name, key: KEPT_SNAPSHOTS.key, optional: true } },
};

/** Where the provider is told that objects cannot be deleted for a while, its rules take them away afterwards. */
function isImmutable(context: ControlPlaneContext): boolean {
  const { providerConfig } = backupSettings(context) ?? {};
  return (providerConfig as { immutability?: unknown } | undefined)?.immutability !== undefined;
}
