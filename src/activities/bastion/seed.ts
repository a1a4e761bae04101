import { OPERATION_ANNOTATION, TIMESTAMP_ANNOTATION } from "../../api/annotations.ts";
import { Bastion, ShootBastion } from "../../api/index.ts";
import type { BastionRun } from "../../api/shoot/bastion-run.ts";
import { Namespace, nextTimestamp, refOf, refTo, type KubeClient } from "../../kube/index.ts";
import { findEarlier } from "../control-plane/earlier-shoot.ts";
import { endBastion } from "../extensions/bastions.ts";
import { led } from "../extensions/led.ts";
import { guarded } from "../failure.ts";
import { StepError } from "../step-error.ts";
import { carryingLeadership } from "../leadership/carried-leadership.ts";
import { fenced } from "../leadership/fenced-client.ts";
import { errorOf, extensionReady } from "../waits/readiness.ts";
import type { BastionSeedActivities } from "./activities.ts";
import { extensionBastion } from "./extension-bastion.ts";

/** Both clusters, under the seed's rights. `seedClient` is not fenced: each write is, by the run that it is for. */
export interface BastionSeedDeps {
  readonly gardenClient: KubeClient;
  readonly seedClient: KubeClient;
  readonly now?: () => number;
}

/** What is done in a seed for the garden's Bastions (Gardener: gardenlet's Bastion controller). */
export function createBastionSeedActivities({
  gardenClient,
  seedClient,
  now = Date.now,
}: BastionSeedDeps): BastionSeedActivities {
  const writerFor = ({ shoot }: BastionRun) => carryingLeadership(fenced(seedClient, shoot));

  return guarded<BastionSeedActivities>({
    async applyBastion(run) {
      const bastion = await gardenClient.read(ShootBastion, { namespace: run.namespace, name: run.name });
      if (bastion?.metadata.uid !== run.uid) throw new StepError(`Bastion ${run.namespace}/${run.name} is gone`);
      if (bastion.metadata.deletionTimestamp !== undefined)
        throw new StepError(`Bastion ${run.namespace}/${run.name} is being deleted`); // a late apply would be left behind
      await confirmOwnNamespace(seedClient, run);
      const client = writerFor(run);
      const wanted = led(extensionBastion(bastion, run.shoot.technicalID), run.shoot);
      const existing = await client.read(refOf(wanted));
      if (existing?.metadata.deletionTimestamp !== undefined)
        throw new StepError(
          `Bastion ${run.shoot.technicalID}/${run.name} is being deleted, and made anew when it is gone`,
        );
      const asked = existing?.metadata.annotations?.[TIMESTAMP_ANNOTATION];
      if (asked !== undefined && !hasFailed(existing) && !(await isNews(client, wanted, existing))) return asked;
      const timestamp = nextTimestamp(existing);
      const annotations = { [OPERATION_ANNOTATION]: "reconcile", [TIMESTAMP_ANNOTATION]: timestamp };
      await client.apply({ ...wanted, metadata: { ...wanted.metadata, annotations } });
      return timestamp;
    },

    async lookAtBastion({ shoot, name }, timestamp, told, since = 0) {
      const found = await seedClient.read(Bastion, { namespace: shoot.technicalID, name });
      if (found === undefined) throw new StepError("it does not exist");
      const readiness = extensionReady(found, { timestamp });
      if (readiness.reached) return { ready: true, ingress: found.status?.ingress };
      const { message, error } = readiness;
      const isDue = error !== undefined || now() - Math.max(Date.parse(timestamp), since) > TOLD_AFTER;
      if (isDue && message !== told) return { ready: false, message, codes: error?.codes ?? [] };
      throw new StepError(message);
    },

    async removeBastion(run) {
      const { technicalID: namespace, forced = false } = run.shoot;
      if (await isElsewhere(seedClient, run)) return;
      const found = await seedClient.read(Bastion, { namespace, name: run.name });
      if (found !== undefined) await endBastion(writerFor(run), found, { forced });
    },

    async confirmBastionRemoved(run) {
      const { technicalID: namespace } = run.shoot;
      if (await isElsewhere(seedClient, run)) return;
      const found = await seedClient.read(Bastion, { namespace, name: run.name });
      if (found === undefined) return;
      throw new StepError(`it is not gone: ${errorOf(found)?.description ?? "its controller has not let it go"}`);
    },
  });
}

/** In ms: how long a controller may be at work before the Bastion's users are told what is missing. */
const TOLD_AFTER = 60_000;

/** Nothing is made beside the control plane of another Shoot, or before there is one. */
async function confirmOwnNamespace(seedClient: KubeClient, { shoot }: BastionRun): Promise<void> {
  const earlier = await findEarlier(seedClient, shoot);
  if (earlier !== undefined) throw new StepError(earlier);
  if ((await seedClient.read(refTo(Namespace, { name: shoot.technicalID }))) !== undefined) return;
  throw new StepError(`the Shoot has no control plane yet: there is no namespace ${shoot.technicalID} in its seed`);
}

/** Whether the namespace is another Shoot's, so that nothing of this one is there any more. */
const isElsewhere = async (seedClient: KubeClient, { shoot }: BastionRun): Promise<boolean> =>
  (await findEarlier(seedClient, shoot)) !== undefined;

/** Its controller has given up, or waits for a change. */
const hasFailed = (existing: Bastion | undefined): boolean =>
  ["Error", "Failed"].includes(existing?.status?.lastOperation?.state ?? "");

/** Whether applying it changes its spec; the API server says so best, in a dry run. */
async function isNews(client: KubeClient, wanted: Bastion, existing: Bastion | undefined): Promise<boolean> {
  const { metadata } = await client.apply(wanted, { dryRun: true });
  return metadata.generation !== existing?.metadata.generation;
}
