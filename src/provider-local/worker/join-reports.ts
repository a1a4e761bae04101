import { MACHINE_NAMESPACE_LABEL } from "../../api/labels.ts";
import { Worker } from "../../api/index.ts";
import type { Guard } from "../../extension/index.ts";
import { Node, refOf, setCondition, type ConditionUpdate, type KubeClient } from "../../kube/index.ts";
import type { Machines } from "../../local/machine/machines.ts";
import type { Logger } from "../../log.ts";
import { permitted } from "../permitted.ts";
import type { ShootAccess } from "../shoot-access.ts";
import type { Runner } from "../volumes.ts";
import { lastComplaint } from "./complaint.ts";
import { isActive } from "./machine-keeper.ts";
import { createRounds } from "./rounds.ts";

/** The seed's Workers, their machines, and the Shoots that these are to join; times are ms. */
export interface JoinReportsDeps {
  readonly client: KubeClient;
  readonly machines: Pick<Machines, "list" | "kubeletLog">;
  readonly shoots: Pick<ShootAccess, "open">;
  readonly guard: Guard;
  readonly log: Logger;
  /** How often machines are looked at that have not joined yet; half a minute unless told otherwise. */
  readonly period?: number;
  /** For how long a machine may boot and join; a minute unless told otherwise. */
  readonly grace?: number;
}

/**
 * Reports which machines of a Worker do not join their Shoot, with what their kubelets complain of last: condition
 * EveryNodeReady of the Worker, as upstream's providers do. A machine that has joined once is not looked at again: its Node
 * says how it is.
 */
export function createJoinReports({ period = 30_000, grace = 60_000, ...deps }: JoinReportsDeps): Runner {
  const { client, machines, shoots, guard, log } = deps;
  /** When each machine was seen first, by name; one that has joined is undefined. */
  const seen = new Map<string, number | undefined>();

  /** The machines that are late, of those that have not joined. */
  const findLate = async (namespace: string, present: readonly string[]): Promise<string[]> => {
    const now = performance.now();
    for (const name of present) if (!seen.has(name)) seen.set(name, now);
    if (present.every((name) => seen.get(name) === undefined)) return [];
    const nodes = await (await shoots.open(namespace)).list(Node, { keep: nameOnly });
    const joined = new Set(nodes.map(({ metadata }) => metadata.name));
    for (const name of present) if (joined.has(name)) seen.set(name, undefined);
    return present.filter((name) => now - (seen.get(name) ?? now) > grace);
  };

  const report = async (worker: Worker, present: readonly string[]) => {
    const late = await findLate(worker.metadata.namespace, present);
    const update = late.length === 0 ? ready : await notReady(late);
    const before = worker.status?.conditions?.find(({ type }) => type === update.type);
    if (before === undefined ? update.status === "True" : before.message === update.message) return;
    await permitted(guard, { object: worker, cluster: undefined, type: "Reconcile" }, async (permit) => {
      permit.check();
      const { resourceVersion } = worker.metadata; // another's condition is written at the same time: in the next round
      const status = { conditions: setCondition(worker.status?.conditions, update) };
      await client.patch(refOf(worker), { metadata: { resourceVersion }, status }, { subresource: "status" });
    });
  };

  const notReady = async (late: readonly string[]): Promise<ConditionUpdate> => {
    const words = late.slice(0, MOST_NAMED).map(async (name) => {
      const complaint = lastComplaint(await machines.kubeletLog(name));
      return `machine ${name} has not joined${complaint === "" ? "" : `, its kubelet's last words: ${complaint}`}`;
    });
    const more = late.length > MOST_NAMED ? [`and ${late.length - MOST_NAMED} more`] : [];
    const message = [...(await Promise.all(words)), ...more].join("; ");
    return { type: ready.type, status: "False", reason: "MachinesNotJoined", message };
  };

  const round = async () => {
    const all = await machines.list();
    const names = new Set(all.map(({ name }) => name));
    for (const name of seen.keys()) if (!names.has(name)) seen.delete(name);
    for (const worker of (await client.list(Worker)).filter(isActive)) {
      const { namespace } = worker.metadata;
      const present = all.filter(({ labels, running: runs }) => runs && labels[MACHINE_NAMESPACE_LABEL] === namespace);
      await report(
        worker,
        present.map(({ name }) => name),
      ).catch((error: unknown) => log.debug({ err: error, namespace }, "cannot report on machines"));
    }
  };

  return createRounds(round, { period, failure: "cannot look whether machines have joined", log });
}

const MOST_NAMED = 3;

const ready = {
  type: "EveryNodeReady",
  status: "True",
  reason: "MachinesJoined",
  message: "All machines have joined.",
} as const;

const nameOnly = ({ apiVersion, kind, metadata: { name } }: Node): Node => ({ apiVersion, kind, metadata: { name } });
