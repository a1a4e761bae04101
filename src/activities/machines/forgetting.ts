import { MACHINE_STATE_ANNOTATION } from "../../api/annotations.ts";
import { Worker } from "../../api/index.ts";
import type { ShootRun } from "../../api/shoot/run.ts";
import { refOf, type KubeClient } from "../../kube/index.ts";

/**
 * Takes from a Worker the machines that it was given, once they have been restored (upstream: `Worker.Wait`). Its own
 * state, and that of a Worker that was given none, stay. Throws a conflict if the Worker has changed meanwhile.
 */
export async function forgetMachineState(seedClient: KubeClient, run: ShootRun): Promise<void> {
  const worker = await seedClient.read(Worker, { namespace: run.technicalID, name: run.name });
  if (worker?.metadata.annotations?.[MACHINE_STATE_ANNOTATION] === undefined) return;
  if (worker.status?.state === undefined || worker.status.state === null) return;
  const { name, namespace, resourceVersion } = worker.metadata;
  const forgotten = { metadata: { name, namespace, resourceVersion }, status: { state: null } };
  await seedClient.patch(refOf(worker), forgotten, { subresource: "status" });
}
