import type {
  InstallationGardenActivities,
  InstallationSeedActivities,
} from "../../activities/installation/activities.ts";
import type { InstallationRun } from "../../api/registration/run.ts";
import { defineFlow, type Condition, type Flow, type Step } from "../../flow/flow.ts";

/** What a step of an installation's flow does, as data: one activity, which either acts or looks whether something has come true. */
export type InstallationAction =
  | { readonly where: "garden"; readonly activity: GardenCall; readonly verb: "call" }
  | { readonly where: "seed"; readonly activity: SeedCall; readonly verb: "call" | "await" };

type GardenCall = Exclude<keyof InstallationGardenActivities, "readInstallation">;
type SeedCall = keyof InstallationSeedActivities;

/** A flow of an installation. */
export type InstallationFlow = Flow<InstallationRun, InstallationAction>;

/** Calls one activity of the garden. */
export const inGarden = (activity: GardenCall): InstallationAction => ({ verb: "call", activity, where: "garden" });

/** Calls one activity of the seed. */
export const inSeed = (activity: SeedCall): InstallationAction => ({ verb: "call", activity, where: "seed" });

/** Has the seed look again and again, without holding anything while it waits, until something is true. */
export const awaitInSeed = (activity: SeedCall): InstallationAction => ({ verb: "await", activity, where: "seed" });

/** The controller is given access to the garden. */
export const hasGardenAccess: Condition<InstallationRun> = {
  text: "the deployment asks for access to the garden",
  holds: (run) => run.gardenAccess,
};

/** The Seed is in the garden: of one that was taken out, no worker would answer, and nothing of it is ours any more. */
export const seedExists: Condition<InstallationRun> = {
  text: "the Seed is in the garden",
  holds: (run) => run.seedExists,
};

/** Declares a flow of an installation. */
export const defineInstallationFlow = <const Name extends string>(
  title: string,
  rows: { readonly [N in Name]: Step<InstallationRun, InstallationAction, NoInfer<Name>> },
): InstallationFlow => defineFlow(title, rows);

/** An action for a reader: what it does, and where. */
export function describeInstallationAction({ verb, activity, where }: InstallationAction) {
  const words = activity.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return { does: verb === "await" ? `wait: ${words}` : words, where };
}
