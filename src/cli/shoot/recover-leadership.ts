import { planRecovery, type Place, type Recovery } from "../../activities/leadership/recovery.ts";
import { recover } from "../../activities/leadership/recovery-writes.ts";
import { leadershipRecord } from "../../activities/shoot/leadership-domain.ts";
import { IGNORE_ANNOTATION } from "../../api/annotations.ts";
import { readNamespaceProject } from "../../api/core/namespace-project.ts";
import type { Shoot } from "../../api/index.ts";
import { isConflict, type KubeClient } from "../../kube/index.ts";
import { defineCommand } from "../command.ts";
import { confirm } from "../confirm.ts";
import { clusterOptions } from "../connection.ts";
import { CliError } from "../exit.ts";
import { findShoot, namespaceOption, shootArgument } from "../find-shoot.ts";
import { flag, text } from "../option.ts";

/** `perennial shoot recover-leadership` */
export const recoverLeadership = defineCommand({
  name: "recover-leadership",
  summary: "Take the leader of a Shoot over from its leadership record, after the garden was restored from a backup",
  description:
    "Asks all servers of the zone, and writes the Seed and the epoch that they name into status.leadership and " +
    "spec.seedName. They have to agree, name the uid of this Shoot, and a later epoch than the status. Where Temporal " +
    "still runs the operation of that epoch, it goes on; otherwise say whether that Seed has the whole control plane.",
  examples: [
    "perennial shoot recover-leadership garden-dev/local --plan",
    "perennial shoot recover-leadership garden-dev/local --whole",
    "perennial shoot recover-leadership garden-dev/local --restore-from seed-1",
  ],
  args: { shoot: shootArgument },
  options: {
    namespace: namespaceOption,
    plan: flag("Show what would be written, and what stands in the way; changes nothing"),
    whole: flag("The Seed that leads is known to have the Shoot's whole control plane, with its etcd"),
    restoreFrom: text("seed", "The Seed that leads was still restoring the Shoot from this one"),
    yes: flag("Do not ask for confirmation", "y"),
    ...clusterOptions,
  },
  async run({ args, options, context }) {
    if (options.whole && options.restoreFrom !== undefined)
      throw new CliError("usage", "--whole and --restore-from exclude each other");
    const garden = await context.garden(options);
    const shoot = await findShoot(garden, { shoot: args.shoot, namespace: options.namespace, exactly: true });
    const subject = `${shoot.metadata.namespace}/${shoot.metadata.name}`;
    const [flows, lookup] = [await context.flows(options), await context.leaders()];
    const deps = { gardenClient: garden.client, lookup, running: flows.running };
    const recovery = await planRecovery(deps, shoot, await requireRecord(garden.client, shoot), options);
    const { out, err } = context.terminal;
    if (!isPlan(recovery)) {
      const reasons = recovery.join("; ");
      throw new CliError("failed", `cannot recover the leadership of Shoot ${subject}: ${reasons}`);
    }
    const summary = renderRecovery(subject, recovery);
    if (options.plan) {
      out.write(`${summary}\nNothing was changed.\n`);
      return "done";
    }
    err.write(`${summary}\n`);
    if (!options.yes)
      await confirm(context.terminal, {
        doing: `recovering the leadership of Shoot ${subject}`,
        words: [shoot.metadata.name, subject],
        otherwise: `Shoot ${subject} stays as it is`,
      });
    const recovered = await recover(garden.client, shoot, recovery).catch((cause: unknown) => {
      if (!isConflict(cause)) throw cause;
      throw new CliError("failed", `Shoot ${subject} has changed meanwhile: run the command again`, { cause });
    });
    const { seed, epoch } = recovery.leader;
    const still = recovered.metadata.annotations?.[IGNORE_ANNOTATION] === "true";
    const note = still ? `; it is ignored until its annotation ${IGNORE_ANNOTATION} is removed` : "";
    out.write(`Seed ${seed} leads Shoot ${subject} in epoch ${epoch}, as its record says${note}\n`);
    return "done";
  },
});

const isPlan = (planned: Recovery | readonly string[]): planned is Recovery => "leader" in planned;

/** The record's name stands in the status; where that was lost it follows from the garden's leadership domain. */
async function requireRecord(client: KubeClient, { metadata, status }: Shoot): Promise<string> {
  const { namespace, name } = metadata;
  const recorded = async () =>
    await leadershipRecord(client, name, (await readNamespaceProject(client, namespace)).name);
  const record = status?.leadership?.record ?? (await recorded());
  if (record !== undefined) return record;
  throw new CliError(
    "failed",
    `Shoot ${namespace}/${name} has no leadership record: the garden has no leadership domain`,
  );
}

function renderRecovery(subject: string, { record, leader, before, place }: Recovery): string {
  const { seed, epoch } = leader;
  return [
    `Take the leader of Shoot ${subject} over from ${record}`,
    `  the record:  ${seed} in epoch ${epoch}`,
    `  the garden:  ${before === undefined ? "no leader" : `${before.seed} in epoch ${before.epoch}`}`,
    `  afterwards:  ${next(seed, place)}`,
  ].join("\n");
}

function next(seed: string, place: Place): string {
  switch (place.is) {
    case "whole":
      return `Reconcile on Seed ${seed}; other Seeds in status.seeds are cleaned up`;
    case "arriving":
      return `Restore on Seed ${seed}, from Seed ${place.from}`;
    case "leaving":
      return `the Migrate from Seed ${seed} that is running is called back`;
  }
}
