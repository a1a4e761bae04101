import { mkdir, readFile, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Shoot } from "../../api/index.ts";
import { BUNDLE_SUFFIX } from "../../components/index.ts";
import { bundledShootOf, openBundle, type Bundle } from "../../etcd-data/bundle.ts";
import { fetchSnapshot, findSnapshots, type FoundSnapshot } from "../../etcd-data/snapshots.ts";
import type { SnapshotStore } from "../../etcd-data/store.ts";
import type { Key } from "../../key-file.ts";
import { OperatorError } from "../steps/fault.ts";
import { isThere } from "../machine/is-there.ts";

/** A snapshot on this machine, and what its bundle holds. */
export interface Source {
  readonly file: string;
  readonly bundle: Bundle;
  /** What people are told of it. */
  readonly called: string;
}

/** Where a source is looked for. */
export interface SourceSearch {
  /** `latest`, the name of a snapshot in the store, or the path of a file that has its bundle beside it. */
  readonly from: string;
  readonly shoot: Shoot;
  readonly keys: readonly Key[];
  /** Where what is fetched is put. */
  readonly folder: string;
  /** The store of the configuration; throws where it says none. */
  openStore(): Promise<SnapshotStore>;
  readonly signal: AbortSignal;
}

/**
 * Fetches what can be restored, the best one first; with `latest`, every good snapshot of this Shoot, which come as they are asked
 * for. Throws an OperatorError where there is none, or it is another Shoot's, and a BundleError where the key does not open it.
 */
export async function* findSources(search: SourceSearch): AsyncGenerator<Source> {
  const { from, folder, signal } = search;
  if (await isPath(from)) {
    const bundle = await readFile(`${from}${BUNDLE_SUFFIX}`).catch((cause: unknown) => {
      throw new OperatorError(`there is no ${from}${BUNDLE_SUFFIX}: put the bundle beside its snapshot`, { cause });
    });
    yield { file: from, bundle: open(bundle, search), called: from };
    return;
  }
  const store = await search.openStore();
  const { uid } = search.shoot.metadata;
  const all = await findSnapshots(store, { signal, ...(uid !== undefined && { uid }) });
  const wanted = from === "latest" ? all : all.filter(({ name }) => name === from || name === `${from}.db`);
  if (wanted.length === 0)
    throw new OperatorError(
      `${store.bucket.replace("store:", "bucket ")} has no snapshot ${from === "latest" ? "of this Shoot" : from} with its bundle: see whether 'backup' in the configuration names the right one`,
    );
  refuseTwoClusters(wanted);
  for (const found of wanted) {
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const { file, bundle } = await fetchSnapshot(store, found, { folder, signal });
    yield { file, bundle: open(bundle, search), called: `${found.name} of ${new Date(found.at).toISOString()}` };
  }
}

const isPath = async (from: string): Promise<boolean> => from.includes("/") || (await isThere(from));

/** A source in the operator's words, so that it is the same one from wherever a command is given. */
export const wholePath = async (from: string): Promise<string> => ((await isPath(from)) ? resolve(from) : from);

/** Whose cluster is meant is not for gardenadm to guess. */
function refuseTwoClusters(found: readonly FoundSnapshot[]): void {
  const uids = [...new Set(found.map(({ uid }) => uid))];
  if (uids.length > 1)
    throw new OperatorError(
      `the bucket has backups of ${uids.length} clusters: write metadata.uid of the one that is meant into the Shoot, of ${uids.join(", ")}`,
    );
}

function open(bytes: Buffer, { shoot: { metadata }, keys }: SourceSearch): Bundle {
  const { namespace, name } = bundledShootOf(bytes);
  if (namespace !== metadata.namespace || name !== metadata.name)
    throw new OperatorError(
      `the backup is of Shoot ${namespace}/${name}, and the configuration is of ${metadata.namespace}/${metadata.name}: take the one that belongs to it`,
    );
  return openBundle(bytes, keys, metadata.uid === undefined ? undefined : { uid: metadata.uid });
}

/** Where fetched snapshots are put. */
export const snapshotFolder = (folder: string): string => join(folder, "snapshot");
