import { isDeepStrictEqual } from "node:util";
import { Machine, MachineDeployment, MachineSet, type MachineObject } from "../../activities/machines/kinds.ts";
import { bare, machineStateItem, machineStateOf, tellsOfMachines } from "../../activities/machines/state.ts";
import type { StateItem } from "../../activities/state/entry.ts";
import type { KubeObject } from "../../api/index.ts";
import { createReflector, type Kind, type KubeClient, type Reflector } from "../../kube/index.ts";
import type { Logger } from "../../log.ts";

/** The machines that machine-controller-managers in a seed make. */
export interface MachineWatch {
  readonly reflectors: readonly Reflector<MachineObject>[];
  /** What is to be kept of the machines beside a Worker; nothing while they are not those of this epoch. */
  itemsOf(worker: KubeObject, epoch: number): StateItem[];
}

/** Watches the machines of all Shoots in a seed; `changed` is told of each namespace in which what is kept of them changes. */
export function createMachineWatch(
  seedClient: KubeClient,
  { changed, log }: { readonly changed: (namespace: string) => void; readonly log: Logger },
): MachineWatch {
  const watch = (kind: Kind<MachineObject, "Namespaced">) =>
    createReflector(seedClient, kind, {
      log,
      keep: withoutStatus,
      // Their controller reports their progress again and again.
      onEvent: ({ object, old, type }) => {
        const same = type === "updated" && old !== undefined && isDeepStrictEqual(bare(old), bare(object));
        if (!same) changed(object.metadata.namespace);
      },
    });
  const deployments = watch(MachineDeployment);
  const sets = watch(MachineSet);
  const machines = watch(Machine);

  return {
    reflectors: [deployments, sets, machines],
    itemsOf(worker, epoch) {
      const { namespace } = worker.metadata;
      if (!tellsOfMachines(worker, epoch)) return [];
      const state = machineStateOf({
        deployments: deployments.list(namespace),
        sets: sets.list(namespace),
        machines: machines.list(namespace),
      });
      return state.state === "" ? [] : [machineStateItem(state)]; // a Worker whose controller makes machines itself
    },
  };
}

const withoutStatus = ({ apiVersion, kind, metadata, spec }: MachineObject): MachineObject => ({
  apiVersion,
  kind,
  metadata,
  ...(spec === undefined ? {} : { spec }),
});
