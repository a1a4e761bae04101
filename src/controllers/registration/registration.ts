import { ControllerRegistration, type ControllerInstallation } from "../../api/index.ts";
import { REGISTRATION_FINALIZER } from "../../api/names.ts";
import { isHeld } from "../../api/registration/installation.ts";
import type { InstallationRef } from "../../api/registration/run.ts";
import {
  createController,
  holdObject,
  refOf,
  refTo,
  releaseObject,
  type EventRecorder,
  type KubeClient,
  type NamespacedKey,
} from "../../kube/index.ts";
import type { Logger } from "../../log.ts";
import { createExtensionAccounts } from "./extension-accounts.ts";
import { occurrencesOf } from "./installation-events.ts";
import { createInstallations, isOpen, isRequired } from "./installations.ts";
import { createRequirements } from "./requirements.ts";
import { createSeedHold } from "./seed-hold.ts";
import { asksForSame, wantedInstallation } from "./wanted-installation.ts";
import { createWatches } from "./watches.ts";

/** The garden, the workflows that install, and who is told; times are ms. */
export interface RegistrationDeps {
  readonly gardenClient: KubeClient;
  readonly flows: { nudge(ref: InstallationRef): Promise<void> };
  readonly events: Pick<EventRecorder, "record">;
  readonly log: Logger;
  /** How often the workflows of installations that ask for something are told; ten minutes unless told otherwise. */
  readonly sweepPeriod?: number;
}

/**
 * Keeps one ControllerInstallation for each registered controller on each Seed that wants it, and tells the workflow of each that
 * has something to do. One that is wanted no more stays as long as its seed says that it is required. Registrations
 * and Seeds go after their installations. For a registration that is being deleted no installation is made or changed, as upstream
 * has it: an operator who deletes the installation, too, has the controller replaced.
 */
export function createRegistrationController(deps: RegistrationDeps) {
  const { gardenClient, flows, events, log, sweepPeriod = 600_000 } = deps;
  const enqueueCell = (name: string, seed: string) => cells.enqueue({ name, namespace: seed });
  const requirements = createRequirements(enqueueCell);
  const watches = createWatches({
    gardenClient,
    log,
    requirements,
    onRegistration(name) {
      for (const seed of requirements.seedNames()) {
        enqueueCell(name, seed);
        for (const { metadata } of installations.of(name, seed)) accounts.check(metadata.name);
      }
      holds.enqueue({ name });
    },
    onSeed: (name) => seedHolds.enqueue({ name }),
  });
  const installations = createInstallations({
    gardenClient,
    log,
    onChange(installation, old) {
      for (const occurrence of occurrencesOf(installation, old)) events.record(occurrence);
      const { registrationRef, seedRef } = installation.spec;
      enqueueCell(registrationRef.name ?? "", seedRef?.name ?? "");
      holds.enqueue({ name: registrationRef.name ?? "" });
      if (seedRef?.name !== undefined) seedHolds.enqueue({ name: seedRef.name });
      accounts.check(installation.metadata.name);
      if (isOpen(installation)) nudges.enqueue({ name: installation.metadata.name });
    },
  });

  const accounts = createExtensionAccounts({
    gardenClient,
    log,
    isWanted(name) {
      const deployment = installations.get(name)?.spec.deploymentRef?.name;
      return deployment !== undefined && watches.deployment(deployment)?.injectGardenKubeconfig === true;
    },
  });

  const make = async (registration: string, seedName: string) => {
    const registered = requirements.registered(registration);
    const seed = watches.seed(seedName);
    if (registered === undefined || registered.deleting || seed === undefined) return;
    const { method } = registered;
    const deployment =
      method.by === "reference" ? { name: method.name, hash: watches.deployment(method.name)?.hash } : undefined;
    const wanted = wantedInstallation({ registered, seed: { name: seedName, hash: seed.hash }, deployment });
    const present = installations.get(wanted.metadata.name);
    if (present?.metadata.deletionTimestamp !== undefined) return; // made anew once it has gone
    if (present === undefined || !asksForSame(present, wanted)) await gardenClient.apply(wanted);
  };

  const cells = createController<NamespacedKey>({
    name: "registration",
    log,
    concurrency: 8,
    async reconcile({ name, namespace: seedName }) {
      const reasons = requirements.reasons(name, seedName);
      if (reasons.length > 0) return await make(name, seedName);
      const seedIsGone = watches.seed(seedName) === undefined;
      for (const installation of installations.of(name, seedName))
        if (!isDeleted(installation) && (seedIsGone || !isRequired(installation)))
          await gardenClient.remove(refOf(installation), uidOf(installation));
      return undefined;
    },
  });
  const holds = createController({
    name: "registration-hold",
    log,
    async reconcile({ name }) {
      const ref = refTo(ControllerRegistration, { name });
      const found = watches.registration(name);
      if (found === undefined) return;
      const isHeld = (found.metadata.finalizers ?? []).includes(REGISTRATION_FINALIZER);
      const installed = installations.countOf(name) > 0;
      if (installed && !isHeld) await holdObject(gardenClient, ref, REGISTRATION_FINALIZER);
      if (!installed && isHeld) await releaseObject(gardenClient, ref, REGISTRATION_FINALIZER);
    },
  });
  const seedHolds = createSeedHold({ gardenClient, log, installedOn: (seed) => installations.countOn(seed) });
  const nudges = createController({
    name: "installation",
    log,
    concurrency: 8,
    async reconcile({ name }) {
      const installation = installations.get(name);
      if (installation === undefined || !isOpen(installation) || !isOurs(installation)) return;
      await flows.nudge({ name, uid: installation.metadata.uid ?? "" });
    },
  });

  /** What an operator, or others, install is theirs to act on, once nothing is left that we have installed. */
  const isOurs = (installation: ControllerInstallation): boolean => {
    if (isHeld(installation)) return true;
    const { spec } = installation;
    const deployment = spec.deploymentRef?.name;
    if (deployment !== undefined) return watches.deployment(deployment)?.method !== "other";
    return requirements.registered(spec.registrationRef.name ?? "")?.method.by === "helm";
  };

  const parts = [watches, installations, accounts];
  const controllers = [cells, holds, seedHolds, nudges];
  let sweep: NodeJS.Timeout | undefined;
  return {
    /** Nothing is taken away before all is known that it may be for. */
    start() {
      for (const part of parts) part.start();
      const synced = Promise.all(parts.map((part) => part.synced()));
      void synced.then(
        () => {
          for (const controller of controllers) controller.start();
          accounts.act();
        },
        (error: unknown) => log.debug({ err: error }, "stopped before the first list"),
      );
      sweep = setInterval(() => {
        for (const one of installations.list()) if (isOpen(one)) nudges.enqueue({ name: one.metadata.name });
      }, sweepPeriod);
    },
    async stop(): Promise<void> {
      clearInterval(sweep);
      await Promise.all(parts.map((part) => part.stop()));
      await Promise.all(controllers.map((controller) => controller.stop()));
    },
  };
}

const isDeleted = ({ metadata }: ControllerInstallation): boolean => metadata.deletionTimestamp !== undefined;

const uidOf = ({ metadata: { uid } }: ControllerInstallation) => (uid === undefined ? {} : { uid });
