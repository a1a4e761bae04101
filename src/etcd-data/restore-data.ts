import { LOST_REVISIONS } from "../components/index.ts";
import type { Run } from "../node-agent/commands.ts";
import type { DataPlace } from "./place.ts";
import { replaceData, type Replaced, type Replacement } from "./replace.ts";

/** The only member of the cluster that begins with restored data. */
export interface FirstMember {
  readonly name: string;
  /** The URL by which its peers will reach it. */
  readonly peerURL: string;
  /** By which members of other clusters are told from its own, such as `etcd-main`. */
  readonly token: string;
}

/** What is restored, and as whose. */
export interface Restoration extends Replacement {
  /** A file that etcd has written as a snapshot: a single byte that is another is found. */
  readonly snapshot: string;
  readonly place: DataPlace;
  readonly member: FirstMember;
  /**
   * How far revisions go on beyond the snapshot's, so that every client that saw what is lost starts over; more than an etcd can
   * have gone through, unless told otherwise. 0 where nothing is lost.
   */
  readonly revisionBump?: number;
  readonly signal?: AbortSignal;
}

/**
 * Makes a snapshot the data of an etcd that is stopped, as that of a new cluster with one member; see {@link replaceData} for what
 * a kill leaves. Throws what etcdutl says where the snapshot is not whole or the disk is full; then nothing has changed.
 */
export async function restoreData({ etcdutl }: { readonly etcdutl: Run }, restoration: Restoration): Promise<Replaced> {
  const { snapshot, place, member, revisionBump = LOST_REVISIONS, signal } = restoration;
  const bump = revisionBump === 0 ? [] : [`--bump-revision=${revisionBump}`, "--mark-compacted"];
  return await replaceData(
    place,
    async (folder) => {
      const words = [
        ...["snapshot", "restore", snapshot, `--data-dir=${folder}`, `--name=${member.name}`],
        ...[`--initial-cluster=${member.name}=${member.peerURL}`, `--initial-cluster-token=${member.token}`],
        ...[`--initial-advertise-peer-urls=${member.peerURL}`, ...bump],
      ];
      await etcdutl(words, signal).catch((error: unknown) => {
        signal?.throwIfAborted();
        throw new Error(`cannot restore ${snapshot}: ${error instanceof Error ? error.message : String(error)}`, {
          cause: error,
        });
      });
    },
    restoration,
  );
}
