import { etcdPorts, imagesFor, nodeAgentSecretName, nodeUrl } from "../../components/index.ts";
import { dataPlaceOf } from "../../etcd-data/place.ts";
import { restoreNewest } from "../../etcd-data/restore-newest.ts";
import { openStore } from "../../etcd-data/store.ts";
import type { StepScope } from "../../in-process/run.ts";
import { readKeyFile } from "../../key-file.ts";
import { Secret, refOf, typeMeta, type KubeClient } from "../../kube/index.ts";
import { createDirectoryClient } from "../../kube/directory/directory-client.ts";
import { createEtcdTool } from "../../node-agent/commands.ts";
import { copyWhole, writeWhole } from "../../node-agent/whole-file.ts";
import { controlPlanePool } from "../../self-hosted/machine-config.ts";
import { NAMESPACE } from "../cluster/control-plane.ts";
import type { StartDeps } from "../init/actions.ts";
import { OperatorError } from "../steps/fault.ts";
import { placesIn } from "../machine/places.ts";
import { bundleKeyFile } from "../reconcile/backup.ts";
import { backupAccessOf } from "../configuration/backup.ts";
import { noteBegun, readBegun, restoreFolder } from "../machine/begun-restore.ts";
import { ensureProgram } from "./programs.ts";
import type { BackupRestoreAction } from "./restore-from-backup.ts";
import { findSources, snapshotFolder, type Source } from "./source.ts";
import { removeLostNodes } from "./stale.ts";
import { isThere } from "../machine/is-there.ts";
import { doubtOtherNodes } from "../cluster/silent-nodes.ts";

/** What a restore from a backup works with. */
export interface BackupRestoreDeps extends StartDeps {
  readonly from: string;
  /** The operator's key file, where it is not in the configuration's folder. */
  readonly key: string | undefined;
  /** The API server, as its administrator. */
  server(): KubeClient;
}

/** What the rows do that stand in front of those of `init`, and between them. */
export function createBackupRestoreActions(
  deps: BackupRestoreDeps,
): Readonly<Record<BackupRestoreAction, (scope: StepScope) => Promise<void>>> {
  const { machine, configuration, from, server } = deps;
  const { root, hostName } = machine;
  const places = placesIn(root);
  const images = imagesFor(configuration.shoot.spec.kubernetes.version);
  let source: Source | undefined;
  /** Those that come after it; undefined once they were begun: what has failed of a store that is away gives no more. */
  let others: AsyncGenerator<Source> | undefined;
  const search = async (signal: AbortSignal) =>
    findSources({
      ...{ from, signal, shoot: configuration.shoot },
      keys: await readKeyFile(deps.key ?? bundleKeyFile(configuration.folder)),
      folder: snapshotFolder(restoreFolder(root)),
      openStore: async () => await storeOf(deps, signal),
    });
  return {
    async source({ signal, tell }) {
      const begun = await readBegun(root);
      if (begun?.restored.includes("main") === true) return;
      if (begun === undefined || begun.searching === true)
        await noteBegun(root, { from, restored: [], searching: true });
      others = await search(signal);
      source = await nextOf(others);
      await noteBegun(root, { from, restored: [] });
      tell(`restores ${source?.called}`);
    },
    async keptSecrets() {
      if (source === undefined) return;
      const { secrets, shoot } = source.bundle;
      const directory = createDirectoryClient({ directory: places.cluster });
      for (const secret of secrets) await directory.apply(secret);
      await directory.close();
      await writeWhole(places.shootUid, Buffer.from(`${shoot.uid}\n`), 0o600);
      const kept = bundleKeyFile(configuration.folder);
      if (deps.key !== undefined && !(await isThere(kept))) await copyWhole(deps.key, kept, 0o600);
    },
    async etcdData({ signal, tell }) {
      if (source === undefined) return;
      const candidates = others === undefined ? await search(signal) : beginningWith(source, others);
      others = undefined;
      const etcdutl = createEtcdTool(await ensureProgram(machine, images, "etcdutl", signal));
      const peerURL = nodeUrl({ name: hostName, addresses: machine.addresses }, etcdPorts("main", { nodes: [] }).peer);
      await restoreNewest(
        { etcdutl },
        {
          ...{ place: dataPlaceOf("main", root), member: { name: hostName, peerURL, token: "etcd-main" }, signal },
          candidates,
          skipped: ({ called }) => tell(`${called} is not whole, and the next one is looked for`),
        },
      );
      await noteBegun(root, { from, restored: ["main"] });
    },
    async staleObjects({ tell }) {
      const lost = await removeLostNodes(server(), hostName);
      await doubtOtherNodes(server(), hostName, new Date());
      if (lost.length > 0) tell(`took away what was of ${lost.join(", ")}`);
      const pool = controlPlanePool(configuration);
      const name = nodeAgentSecretName({ ...configuration, images, namespace: NAMESPACE, checksums: {} }, pool);
      await server().remove(refOf({ ...typeMeta(Secret), metadata: { namespace: NAMESPACE, name } }));
    },
  };
}

async function storeOf({ machine, configuration }: BackupRestoreDeps, signal: AbortSignal) {
  const access = backupAccessOf(configuration);
  if (access === undefined)
    throw new OperatorError(
      "the configuration names no backup: write it to controlPlane.backup, or name a file with --from",
    );
  const images = imagesFor(configuration.shoot.spec.kubernetes.version);
  return openStore(access, await ensureProgram(machine, images, "rclone", signal));
}

async function nextOf(sources: AsyncGenerator<Source>): Promise<Source | undefined> {
  const next = await sources.next();
  return next.done === true ? undefined : next.value;
}

/** One that was taken already, and those that come after it. */
async function* beginningWith(first: Source, others: AsyncIterable<Source>): AsyncGenerator<Source> {
  yield first;
  yield* others;
}
