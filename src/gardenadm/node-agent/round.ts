import { APPLIED_CHECKSUM_ANNOTATION } from "../../api/annotations.ts";
import { SYSTEM_NAMESPACE } from "../../api/names.ts";
import type { KubeClient } from "../../kube/client.ts";
import { Node, Secret } from "../../kube/kinds.ts";
import { refOf } from "../../kube/path.ts";
import type { Logger } from "../../log.ts";
import { applyMachine, type Applied } from "../../node-agent/apply-machine.ts";
import type { Machine } from "../../node-agent/perform.ts";
import { dropToken, giveKubeletToken } from "./kubelet-access.ts";
import type { AgentIdentity } from "../machine/agent-identity.ts";
import { waitForLock } from "../machine/lock.ts";
import { readMachineOrder, type MachineOrder } from "../cluster/machine-order.ts";
import { manifestPods } from "./manifests.ts";
import { podsReady } from "./readiness.ts";
import type { Turn } from "./turn.ts";

/** What an agent works with. */
export interface RoundDeps {
  readonly machine: Machine;
  readonly identity: AgentIdentity;
  readonly client: KubeClient;
  readonly turn: Turn;
  readonly log: Logger;
}

/** How a round has ended: all is as it is to be, something is not there yet, or the agent itself has changed. */
export type RoundEnd = "done" | "waiting" | "restart";

/** In ms: how long static pods may take to be ready with what was changed. */
const LONGEST_START = 300_000;

/**
 * One look at what the pool's Secret says, with everything that follows from it; a function of the Secret as it is now. Where
 * nodes take turns, what is new begins with a turn, which this node keeps until its static pods are ready with it: a round that
 * throws keeps it, too. `lastApplied` is what this process has brought to its end.
 */
export function createRounds(deps: RoundDeps): (secret: Secret, signal: AbortSignal) => Promise<RoundEnd> {
  const { identity, turn, log } = deps;
  let lastApplied: string | undefined;
  return async (secret, signal) => {
    const order = readMachineOrder(secret);
    const isNew = order.checksum !== lastApplied;
    if (isNew && order.isSerial) {
      const holder = await turn.take();
      if (holder !== undefined) {
        log.info({ holder }, "waiting for another node's turn to end");
        return "waiting";
      }
    }
    await giveKubeletToken(identity);
    const applied = await waitForLock(identity.places.lock, signal, async () => await apply(deps, order, signal));
    if (applied.restartDue) return "restart";
    if (isNew) await settled(deps, order, signal);
    if (!(await announce(deps, order.checksum))) return "waiting";
    if (isNew && order.isSerial) await turn.pass();
    lastApplied = order.checksum;
    return (await dropToken(identity)) ? "done" : "waiting";
  };
}

async function apply({ machine, identity, client, log }: RoundDeps, order: MachineOrder, signal: AbortSignal) {
  const readSecret = async (name: string, key: string) => {
    const value = (await client.read(Secret, { namespace: SYSTEM_NAMESPACE, name }))?.data?.[key];
    if (value === undefined) throw new Error("there is no such key");
    return Buffer.from(value, "base64");
  };
  const tell = (message: string) => log.info({ step: message }, "machine changes");
  const applied = await applyMachine({ ...machine, hostName: identity.node, readSecret }, order.config, {
    signal,
    tell,
  });
  if (!isNothing(applied)) log.info({ ...applied, checksum: order.checksum }, "machine changed");
  return applied;
}

const isNothing = ({ written, removed, restarted, stopped }: Applied): boolean =>
  [written, removed, restarted, stopped].every(({ length }) => length === 0);

async function settled({ machine, identity, log }: RoundDeps, { config }: MachineOrder, signal: AbortSignal) {
  const { node } = identity;
  const limited = AbortSignal.any([signal, AbortSignal.timeout(LONGEST_START)]);
  const tell = (missing: string) => log.info({ missing }, "waiting for static pods");
  await podsReady(manifestPods(config, node), { node, ctr: machine.ctr }, { signal: limited, tell });
}

/** Says on the Node what the machine was made; false where there is no Node yet. */
async function announce({ client, identity }: RoundDeps, checksum: string): Promise<boolean> {
  const node = await client.read(Node, { name: identity.node });
  if (node === undefined) return false;
  if (node.metadata.annotations?.[APPLIED_CHECKSUM_ANNOTATION] !== checksum)
    await client.patch(refOf(node), { metadata: { annotations: { [APPLIED_CHECKSUM_ANNOTATION]: checksum } } });
  return true;
}
