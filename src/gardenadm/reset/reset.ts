import { ADMIN_KUBECONFIG } from "../../api/names.ts";
import { join, resolve } from "node:path";
import { CONTROL_PLANE_LABEL } from "../../api/labels.ts";
import { CliError, type Exit } from "../../cli/exit.ts";
import { flag, text } from "../../cli/option.ts";
import { withLock } from "../../in-process/lock.ts";
import { Node, parseKubeconfig, type KubeClient } from "../../kube/index.ts";
import { readFile } from "node:fs/promises";
import { urlHost } from "../../components/index.ts";
import { commandLine, option } from "../command-line.ts";
import { clusterOptions } from "../connection.ts";
import { defineCommand, type GardenadmContext } from "../context.ts";
import type { ThisMachine } from "../machine/this-machine.ts";
import { placesIn } from "../machine/places.ts";
import { readOwnMember } from "../mending/own-member.ts";
import { createTables, inWords, runActions } from "../steps/tables.ts";
import { createResetActions, readResetRun } from "./actions.ts";
import { hasLeft } from "../machine/departure.ts";
import { forgetAttempt, forgetMachine, isNode } from "../machine/traces.ts";
import { resetNode, type ResetRun } from "./reset-node.ts";
import { isThere } from "../machine/is-there.ts";
import { createClusterClient } from "../cluster/client.ts";

/** `gardenadm reset` */
export const reset = defineCommand({
  name: "reset",
  summary: "Take a node out of its cluster, and from this machine what made it one",
  description:
    "Its pods go elsewhere, its members leave etcd, its Node goes, and this machine is as bare as before. A worker needs an administrator's kubeconfig for its cluster's part. " +
    "With --node it takes another node out, whose machine is gone for good. Interrupted or killed, the same command goes on where it was.",
  examples: [
    "gardenadm reset",
    "gardenadm reset -k admin.conf",
    "gardenadm reset --node b --machine-is-gone",
    "gardenadm reset --machine-only",
  ],
  args: {},
  options: {
    node: text("name", "Another node, whose machine is gone"),
    machineIsGone: flag(
      "With --node: say that the machine is gone; were it to come back, it would not be a node any more",
    ),
    machineOnly: flag("Leave the cluster as it is: it is gone, or knows nothing of this machine any more"),
    ...clusterOptions,
  },
  async run({ options, context }) {
    const machine = await context.machine({ leaves: true });
    const { node, machineIsGone, machineOnly } = options;
    const command = commandOf(options);
    refuseContradiction(machine, options);
    if (node === undefined && !(await isNode(machine.root))) {
      const forgetting = withLock(placesIn(machine.root).lock, async () => await forgetAttempt(machine.root));
      await forgetting.catch((error: unknown) => {
        throw inWords(error, context.signal);
      });
      context.terminal.err.write("This machine is no node: there is nothing to reset.\n");
      return "done";
    }
    if (machineOnly || (node === undefined && (await hasLeft(machine.root)))) {
      const wanted = { node: machine.hostName, run: MACHINE_ONLY, machineIsGone: false, command };
      return await carryOut(context, machine, {
        ...wanted,
        next: afterReset({ hostName: machine.hostName, hasEnded: false, machineOnly }),
      });
    }
    const client = await clusterFor(context, machine, options.kubeconfig, node ?? machine.hostName);
    const isHere = node === undefined;
    const { root } = machine;
    const run = await readResetRun(client, node ?? machine.hostName, { isHere, root }).catch((error: unknown) => {
      throw new CliError("failed", error instanceof Error ? error.message : String(error), { cause: error });
    });
    const next = afterReset({ hostName: machine.hostName, hasEnded: !run.clusterGoesOn, machineOnly });
    return await carryOut(context, machine, {
      node: node ?? machine.hostName,
      run,
      machineIsGone,
      client,
      command,
      next,
    });
  },
});

interface Said {
  readonly node: string | undefined;
  readonly machineIsGone: boolean;
  readonly machineOnly: boolean;
  readonly kubeconfig: string | undefined;
}

/** The command line that goes on with such a reset, from wherever it is given. */
export function commandOf({ node, machineOnly, kubeconfig }: Omit<Said, "machineIsGone">): string {
  return commandLine(
    ...["gardenadm", "reset"],
    ...(node === undefined ? [] : ["--node", node, "--machine-is-gone"]),
    ...(machineOnly ? ["--machine-only"] : []),
    ...option("--kubeconfig", kubeconfig && resolve(kubeconfig)),
  );
}

function refuseContradiction({ hostName }: ThisMachine, { node, machineIsGone, machineOnly }: Said): void {
  if ((node !== undefined) !== machineIsGone)
    throw new CliError(
      "usage",
      "--node and --machine-is-gone belong together: a machine that is there takes itself out, by 'gardenadm reset' on it",
    );
  if (node !== undefined && machineOnly)
    throw new CliError("usage", "--machine-only is about this machine: leave out --node");
  if (node === hostName) throw new CliError("usage", `this machine is node ${node}: leave out --node`);
}

/** Nothing is asked of a cluster, and what the machine was in it does not matter. */
const MACHINE_ONLY: ResetRun = { isControlPlane: false, isHere: true, clusterGoesOn: false };

interface Wanted {
  readonly node: string;
  readonly run: ResetRun;
  readonly machineIsGone: boolean;
  readonly client?: KubeClient;
  /** The command line that goes on. */
  readonly command: string;
  /** What comes after, where this machine goes. */
  readonly next: string;
}

/** What is left to the operator when a machine is no node any more. */
export function afterReset({ hostName, hasEnded, machineOnly }: Gone): string {
  const another =
    "gardenadm init -d FOLDER; or, out of a backup of the same one, gardenadm restore -d FOLDER --from latest";
  if (hasEnded && !machineOnly) return `The cluster has ended with it. Next, for another one here: ${another}\n`;
  const remains = `Where its cluster goes on, it is to be told there, on a node of the control plane: gardenadm reset --node ${hostName} --machine-is-gone\n`;
  const again = "gardenadm token create --print-join-command";
  return `${machineOnly ? remains : ""}To join again, run here the line that is printed on a node of the control plane by: ${again}\n`;
}

/** A machine that was a node. */
interface Gone extends Pick<ThisMachine, "hostName"> {
  /** The cluster has ended with it. */
  readonly hasEnded: boolean;
  readonly machineOnly: boolean;
}

async function carryOut(context: GardenadmContext, machine: ThisMachine, wanted: Wanted): Promise<Exit> {
  const places = placesIn(machine.root);
  const { node, run, machineIsGone, client } = wanted;
  const tables = createTables(context, { journal: places.journal, about: node, command: wanted.command });
  try {
    await withLock(places.lock, async () => {
      await runActions(tables, resetNode, run, createResetActions({ machine, node, run, machineIsGone, client }));
      if (run.isHere) await forgetMachine(machine.root);
    });
  } catch (error) {
    throw inWords(error, context.signal);
  }
  context.terminal.err.write(
    run.isHere
      ? `\nThis machine is no node any more.\n${wanted.next}`
      : `\nNode ${node} is out of the cluster.\nNext: kubectl get nodes\n`,
  );
  return "done";
}

/** An API server that stays: on a node of the control plane that goes, one of another node's. */
async function clusterFor(
  context: GardenadmContext,
  machine: ThisMachine,
  kubeconfig: string | undefined,
  node: string,
): Promise<KubeClient> {
  const own = join(machine.root, ADMIN_KUBECONFIG);
  if (kubeconfig !== undefined || !(await isThere(own))) return (await context.cluster({ kubeconfig })).client;
  const local = createClusterClient({ file: own }, { userAgent: "gardenadm" });
  if (node !== machine.hostName) return local;
  const others = await otherServers(local, machine);
  if (others.length === 0) return local;
  await local.close();
  return await firstThatAnswers(others, await readFile(own, "utf8"));
}

/** Addresses of the other nodes of the control plane; where this node's members have left etcd already, by what these were started with. */
async function otherServers(local: KubeClient, { root, hostName }: ThisMachine): Promise<readonly string[]> {
  try {
    const nodes = await local.list(Node, { labelSelector: CONTROL_PLANE_LABEL });
    return nodes.flatMap(({ metadata, status }) => {
      const address = status?.addresses?.find(({ type }) => type === "InternalIP")?.address;
      return metadata.name === hostName || address === undefined ? [] : [address];
    });
  } catch (cause) {
    const known = (await readOwnMember("main", root))?.others ?? [];
    if (known.length > 0) return known.map(({ addresses: [address] }) => address);
    throw new CliError(
      "unreachable",
      `the API server of this node does not answer (${cause instanceof Error ? cause.message : String(cause)}): name the kubeconfig of another one with --kubeconfig, or take only this machine's part away with --machine-only`,
      { cause },
    );
  }
}

/** An API server at one of these addresses, as the administrator of this kubeconfig. */
async function firstThatAnswers(addresses: readonly string[], kubeconfig: string): Promise<KubeClient> {
  const { server } = parseKubeconfig(kubeconfig);
  for (const address of addresses) {
    const text = kubeconfig.replace(server, `https://${urlHost(address)}`);
    const client = createClusterClient({ kubeconfig: text }, { userAgent: "gardenadm" });
    if ((await client.get("/readyz").catch(() => undefined)) === "ok") return client;
    await client.close();
  }
  throw new CliError(
    "unreachable",
    `no API server of another node answers, at ${addresses.join(", ")}: switch one on, or take only this machine's part away with --machine-only`,
  );
}
