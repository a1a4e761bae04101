import { FORCE_DELETION_ANNOTATION } from "../../api/annotations.ts";
import { minutes } from "../../api/extensions/define-extension.ts";
import { Bastion } from "../../api/index.ts";
import type { ShootRun } from "../../api/shoot/run.ts";
import { refOf, type KubeClient } from "../../kube/index.ts";
import type { WaitTarget } from "../index.ts";
import type { Waits } from "../waits/waits.ts";
import { confirmAndRemove } from "./existing.ts";

/** The run's fenced client, and the seed's waits. */
export interface BastionsDeps {
  readonly seedClient: KubeClient;
  readonly waits: Waits;
}

/**
 * Deletes what there is of Bastions beside a Shoot's control plane, before what they stand on goes, and answers with what
 * there is to wait for. Those of a Shoot that is deleted by force leave behind what cannot be removed.
 */
export async function removeBastions(
  { seedClient, waits }: BastionsDeps,
  run: ShootRun,
  step: string,
): Promise<WaitTarget[]> {
  const bastions = await seedClient.list(Bastion, { namespace: run.technicalID });
  const group = waits.group(step, bastions.length);
  return await Promise.all(
    bastions.map(async (bastion) => {
      const target: WaitTarget = { ...refOf(bastion), until: "gone", severeAfter: minutes(6), deadline: minutes(15) };
      const registration = group.registration(target, bastion.metadata.uid);
      await endBastion(seedClient, bastion, { forced: run.forced === true, registration });
      return target;
    }),
  );
}

/** Confirms and deletes one; its controller reads in the object that it is to give up what it cannot remove. */
export async function endBastion(
  seedClient: KubeClient,
  bastion: Bastion,
  { forced, registration = {} }: { readonly forced: boolean; readonly registration?: Readonly<Record<string, string>> },
): Promise<void> {
  const giveUp = forced ? { [FORCE_DELETION_ANNOTATION]: "true" } : {};
  await confirmAndRemove(seedClient, bastion, { ...registration, ...giveUp });
}
