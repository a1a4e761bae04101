import { MACHINE_STATE_ANNOTATION } from "../../api/annotations.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import type { ShootRun } from "../../api/shoot/run.ts";
import { MACHINE_CONTROLLER_MANAGER } from "../../components/index.ts";
import { inWords, Pod, refOf, type KubeClient } from "../../kube/index.ts";
import { StepError } from "../step-error.ts";
import { abandonMachines } from "../teardown/abandonment.ts";
import { ended } from "../waits/readiness.ts";
import { machineStateFor, machineStateOf, noMachines, readMachineObjects, type MachineState } from "./state.ts";

/** `seedClient` is the run's fenced client. */
export interface MachineHandoverDeps {
  readonly seedClient: KubeClient;
  /** What the garden has kept of the machines, as another seed may have written it; undefined where nothing is kept. */
  readonly kept: (run: ShootRun) => Promise<unknown>;
}

/**
 * What a Worker is to be given of its machines before its controller is asked to restore them; undefined where it has been
 * given them, or has no need. The controller would look for them in the garden otherwise, where they are sealed.
 */
export type MachineHandover = (run: ShootRun, worker: KubeObject | undefined) => Promise<MachineState | undefined>;

/**
 * A Shoot that comes from another seed goes on with the machines that are kept, once nothing is left here of an earlier
 * time. One that stays goes on with those that are here: a migration that was given up has left them as they were.
 */
export function createMachineHandover({ seedClient, kept: read }: MachineHandoverDeps): MachineHandover {
  const kept = async (run: ShootRun): Promise<MachineState | undefined> => {
    const content = await read(run);
    try {
      return content === undefined ? undefined : machineStateFor(run.technicalID, content);
    } catch (cause) {
      throw new StepError(
        `cannot restore Worker ${run.technicalID}/${run.name}: machine-state of ShootState ${run.namespace}/${run.name} is not a state of machines; find out which seed has written it`,
        ["ERR_CONFIGURATION_PROBLEM"],
        { cause },
      );
    }
  };

  const present = async ({ technicalID }: ShootRun) =>
    machineStateOf(await readMachineObjects(seedClient, technicalID));

  const arriving = async (run: ShootRun): Promise<MachineState> => {
    const state = await kept(run);
    if (state === undefined && run.migration?.takeover !== true)
      throw new StepError(
        `cannot restore Worker ${run.technicalID}/${run.name}: the ShootState has no machines of it, and without them new ones would be made beside those that there are`,
      );
    await requireStopped(seedClient, run);
    await abandonMachines(seedClient, run);
    return state ?? noMachines;
  };

  return async (run, worker) => {
    if (run.machineControllerManager !== true) return undefined;
    if (!hasBeenGiven(worker, run)) {
      const moved = run.migration !== undefined && run.migration.returning !== true;
      if (moved) return await arriving(run);
      const here = await present(run);
      return here.state === "" ? ((await kept(run)) ?? noMachines) : here;
    }
    return stateOf(worker) === undefined ? await present(run) : undefined; // a Restore that is done once more
  };
}

/** That a Worker has been given its machines, under the run's epoch. */
export const givenMark = ({ epoch }: ShootRun): Record<string, string> => ({
  [MACHINE_STATE_ANNOTATION]: String(epoch),
});

const hasBeenGiven = (worker: KubeObject | undefined, { epoch }: ShootRun): boolean =>
  worker?.metadata.annotations?.[MACHINE_STATE_ANNOTATION] === String(epoch);

const stateOf = (worker: KubeObject | undefined): unknown =>
  (worker?.["status"] as { state?: unknown } | undefined)?.state ?? undefined;

/** A manager that runs would make a machine for each that is taken away from it here. */
async function requireStopped(seedClient: KubeClient, { technicalID: namespace }: ShootRun): Promise<void> {
  const labelSelector = `role=${MACHINE_CONTROLLER_MANAGER}`;
  const running = (await seedClient.list(Pod, { namespace, labelSelector })).find((pod) => !ended(pod).reached);
  if (running !== undefined)
    throw new StepError(`cannot restore the machines of ${namespace}: ${inWords(refOf(running))} is not gone yet`);
}
