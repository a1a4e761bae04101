import type { InstallationClient } from "../../client/installations.ts";
import type { FlowProgress } from "../../api/shoot/run.ts";
import { install } from "../../workflows/installation/install.ts";
import { uninstall } from "../../workflows/installation/uninstall.ts";
import { explainFully } from "../exit.ts";
import { findBlocking } from "./blocking.ts";
import type { InstallationReport } from "./installation.ts";
import type { WaitingStep } from "./waiting-step.ts";

/** The step that holds an installation up. */
export interface HeldInstallation {
  readonly installation: string;
  readonly seed: string;
  readonly blocking: WaitingStep["blocking"];
}

/** What the flows of installations say; no silence of one hides the others. */
export interface InstallationFlows {
  /** Those with a step that is parked, waits for its next attempt, or has an error. */
  readonly held: readonly HeldInstallation[];
  /** Why a flow could not be asked, where one could not. */
  readonly unanswered?: string;
}

/** Asks the flows of the installations that are not as they are wanted; does not connect where all of them are. */
export async function askInstallationFlows(
  installations: readonly InstallationReport[],
  connect: () => Promise<Pick<InstallationClient, "progress">>,
): Promise<InstallationFlows> {
  const unfinished = installations.filter(({ ready, outdated }) => !ready || outdated === true);
  if (unfinished.length === 0) return { held: [] };
  try {
    const flows = await connect();
    const asked = unfinished.map(async (one) =>
      holdUpOf(one, await flows.progress({ name: one.name, uid: one.uid ?? "" })),
    );
    const answers = await Promise.allSettled(asked);
    const held = answers.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
    const silent = answers.find((answer) => answer.status === "rejected");
    return { held, ...(silent && { unanswered: explainFully(silent.reason) }) };
  } catch (error) {
    return { held: [], unanswered: explainFully(error) };
  }
}

function holdUpOf({ name, seed }: InstallationReport, progress: FlowProgress | undefined): HeldInstallation[] {
  const found = progress && findBlocking(progress);
  if (found === undefined || (found.state === "running" && found.error === undefined)) return [];
  const { steps } = progress?.operation === "Delete" ? uninstall : install;
  const inGarden = steps.get(found.step)?.do.where === "garden";
  const owner = inGarden ? "Perennial's worker for the garden" : `Perennial's worker for seed ${seed}`;
  return [{ installation: name, seed, blocking: { ...found, owner } }];
}
