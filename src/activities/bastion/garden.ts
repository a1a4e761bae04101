import { GARDENER_FINALIZER, Seed, Shoot, ShootBastion } from "../../api/index.ts";
import { describeMissing, notReady, primariesFor } from "../../api/registration/gate.ts";
import type { BastionRef, BastionRun } from "../../api/shoot/bastion-run.ts";
import type { ShootRun } from "../../api/shoot/run.ts";
import { addFinalizer, dropFinalizer, refTo, unlessGone, updateStatus, type KubeClient } from "../../kube/index.ts";
import { guarded } from "../failure.ts";
import type { GardenShoots } from "../shoot/garden-shoots.ts";
import type { InstalledExtensions } from "../shoot/required-extensions.ts";
import { readShootView, type Periods } from "../shoot/view.ts";
import type { ShootView } from "../index.ts";
import type { BastionGardenActivities, BastionNews } from "./activities.ts";
import { statusWith } from "./news.ts";
import { decideTask } from "./task.ts";

/** The garden, what is registered and installed there, its Shoots, and the durations of flows. */
export interface BastionGardenDeps {
  readonly gardenClient: KubeClient;
  readonly periods: Periods;
  readonly extensions: InstalledExtensions;
  readonly shoots: GardenShoots;
}

/** What is done in the garden for its Bastions. */
export function createBastionGardenActivities(deps: BastionGardenDeps): BastionGardenActivities {
  const { gardenClient } = deps;
  const tell = async (ref: BastionRef | BastionRun, news: BastionNews) =>
    void (await updateStatus(gardenClient, refOfBastion(ref), (bastion) =>
      bastion.metadata.uid === ref.uid
        ? statusWith(bastion, news, "generation" in ref ? ref.generation : undefined)
        : bastion.status,
    ));

  return guarded<BastionGardenActivities>({
    async readBastion(ref) {
      const bastion = await readBastion(gardenClient, ref);
      if (bastion === undefined) return null;
      const { spec, metadata } = bastion;
      const shoot = await readOwnShoot(gardenClient, bastion);
      const seed = spec.seedName === undefined ? undefined : await gardenClient.read(Seed, { name: spec.seedName });
      const view = await viewOf(deps, shoot);
      const obstacle = view?.problem?.message ?? whyNotServed(deps, bastion);
      const decision = decideTask({ bastion, shoot, seedExists: seed !== undefined, obstacle });
      if (decision === null || decision.is === "release" || decision.is === "wait") return decision;
      if (view?.run === undefined) return { is: "wait", why: "its Shoot is in no seed" };
      return { is: decision.is, run: { ...ref, generation: metadata.generation ?? 0, ...factsFrom(view.run) } };
    },
    async holdBastion(run) {
      const found = await readBastion(gardenClient, run);
      const bastion = found && (await unlessGone(addFinalizer(gardenClient, found, GARDENER_FINALIZER)));
      if (bastion?.status?.observedGeneration !== run.generation) await tell(run, { is: "making" });
    },
    tellBastion: tell,
    async releaseBastion(ref) {
      const bastion = await readBastion(gardenClient, ref);
      if (bastion !== undefined) await dropFinalizer(gardenClient, bastion, GARDENER_FINALIZER);
    },
  });
}

const refOfBastion = ({ namespace, name }: BastionRef) => refTo(ShootBastion, { namespace, name });

/** The Bastion of this uid; undefined when it is gone. */
async function readBastion(gardenClient: KubeClient, ref: BastionRef): Promise<ShootBastion | undefined> {
  const bastion = await gardenClient.read(refOfBastion(ref));
  return bastion?.metadata.uid === ref.uid ? bastion : undefined;
}

/** The Shoot that the Bastion was made for: a later one of that name does not own it. */
async function readOwnShoot(gardenClient: KubeClient, { metadata, spec }: ShootBastion): Promise<Shoot | undefined> {
  const shoot = await gardenClient.read(Shoot, { namespace: metadata.namespace, name: spec.shootRef.name });
  const owners = (metadata.ownerReferences ?? []).filter(({ kind }) => kind === Shoot.kind);
  const isOwn = owners.length === 0 || owners.some(({ uid }) => uid === shoot?.metadata.uid);
  return isOwn ? shoot : undefined;
}

async function viewOf({ gardenClient, periods, extensions, shoots }: BastionGardenDeps, shoot: Shoot | undefined) {
  if (shoot === undefined) return undefined;
  const { namespace, name, uid = "" } = shoot.metadata;
  const known = { registered: extensions.registered, shoots };
  return (await readShootView(gardenClient, { namespace, name, uid }, periods, known)) ?? undefined;
}

/** Why the controller that is registered for the Bastion is not at its service in its Seed; contract section C8.1. */
function whyNotServed({ extensions }: BastionGardenDeps, { spec, metadata }: ShootBastion): string | undefined {
  const { seedName, providerType } = spec;
  if (seedName === undefined || providerType === undefined || metadata.deletionTimestamp !== undefined)
    return undefined;
  const known = extensions.of(seedName);
  const missing = notReady(primariesFor([{ kind: "Bastion", type: providerType }], known.registrations), known);
  return missing.length === 0 ? undefined : describeMissing(missing, seedName);
}

function factsFrom(run: NonNullable<ShootView["run"]>): Omit<BastionRun, keyof BastionRef | "generation"> {
  const { namespace, name, uid, technicalID, seedName, epoch, leaseSeconds, leadershipRecord, forced } = run;
  const optional: Pick<ShootRun, "leadershipRecord" | "forced"> = {
    ...(leadershipRecord === undefined ? {} : { leadershipRecord }),
    ...(forced === undefined ? {} : { forced }),
  };
  const shoot = { namespace, name, uid, technicalID, seedName, epoch, leaseSeconds, ...optional };
  return { shoot, seedName, seedDeadline: run.seedDeadline, lookDeadline: LOOK_DEADLINE };
}

/** In ms. */
const LOOK_DEADLINE = 600_000;
