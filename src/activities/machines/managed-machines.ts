import { EPOCH_ANNOTATION, SCALED_DOWN_BY_WATCHDOG_ANNOTATION } from "../../api/annotations.ts";
import { Worker } from "../../api/index.ts";
import { isAsleep, type ShootRun } from "../../api/shoot/run.ts";
import { MACHINE_CONTROLLER_MANAGER, type ManagedMachines } from "../../components/index.ts";
import { Deployment, unlessGone, type KubeClient } from "../../kube/index.ts";
import { MachineDeployment } from "./kinds.ts";

/** Reads in the seed what the programs that manage machines are deployed with; nothing where the Shoot has none of them. */
export async function readManagedMachines(
  seedClient: KubeClient,
  run: ShootRun,
): Promise<{ readonly machines?: ManagedMachines }> {
  return run.machineControllerManager === true ? { machines: await readMachines(seedClient, run) } : {};
}

async function readMachines(seedClient: KubeClient, run: ShootRun): Promise<ManagedMachines> {
  const { technicalID: namespace, name } = run;
  const [manager, worker, machines] = await Promise.all([
    seedClient.read(Deployment, { namespace, name: MACHINE_CONTROLLER_MANAGER }),
    seedClient.read(Worker, { namespace, name }),
    unlessGone(seedClient.list(MachineDeployment, { namespace })),
  ]);
  const { replicas: present = 0 } = manager?.spec ?? {};
  const annotations = manager?.metadata.annotations ?? {};
  return {
    managerReplicas: managerReplicas(run, {
      present,
      restoring: annotations[EPOCH_ANNOTATION] === String(run.epoch),
      held: annotations[SCALED_DOWN_BY_WATCHDOG_ANNOTATION] !== undefined,
      hasMachines: (machines ?? []).some(
        ({ spec, status }) => Math.max(spec?.replicas ?? 0, status?.replicas ?? 0) > 0,
      ),
    }),
    deployments: (worker?.status?.machineDeployments ?? []).map((one) => ({
      name: one.name,
      minimum: one.minimum,
      maximum: one.maximum,
    })),
  };
}

/** What decides how many pods machine-controller-manager has. */
interface ManagerFacts {
  readonly present: number;
  /** It was deployed under this very epoch. */
  readonly restoring: boolean;
  /** dependency-watchdog has scaled it down. */
  readonly held: boolean;
  readonly hasMachines: boolean;
}

/**
 * How many pods the manager is to have (upstream: `DeployMachineControllerManager`). In a Restore it is the Worker's
 * controller that starts it, once it has made its objects anew: a manager without them would take every machine for an
 * orphan, and end it. Where a Shoot falls asleep, it is needed as long as there are machines.
 */
export function managerReplicas(run: ShootRun, { present, restoring, held, hasMachines }: ManagerFacts): number {
  if (run.operation === "Delete") return 1;
  if (isAsleep(run)) return 0;
  if (run.operation === "Restore") return restoring ? present : 0;
  if (run.hibernated) return hasMachines ? 1 : 0;
  return held ? present : 1;
}
