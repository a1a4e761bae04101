import type { StepScope } from "../../in-process/run.ts";
import { StepError } from "../../activities/step-error.ts";
import { isReady } from "../../activities/waits/readiness.ts";
import { KubeError, Node, type BootstrapToken, type KubeClient } from "../../kube/index.ts";
import { applyMachine } from "../../node-agent/apply-machine.ts";
import type { MachineConfig } from "../../node-agent/wanted.ts";
import { noSecret } from "../cluster/machine-order.ts";
import type { WantedPlace } from "../cluster/place.ts";
import type { AgentIdentity } from "../machine/agent-identity.ts";
import { agentPlacesIn } from "../machine/agent-places.ts";
import { waitForLock } from "../machine/lock.ts";
import { readRole } from "../machine/role.ts";
import type { ThisMachine } from "../machine/this-machine.ts";
import { preflight } from "../preflight/preflight.ts";
import { OperatorError } from "../steps/fault.ts";
import { createKnown } from "../steps/known.ts";
import { until } from "../steps/until.ts";
import { findCaller, type Caller } from "./caller.ts";
import { enter } from "./entry.ts";
import { refuseOtherCluster } from "./other-cluster.ts";
import { findProspect, type Prospect } from "./prospect.ts";
import { trustCluster, type Proof, type TrustedCluster } from "./trust.ts";
import { findWay, type Way } from "./way.ts";

/** What a machine that joins is told by its operator. */
export interface Invitation extends WantedPlace {
  /** URL at which an API server answers. */
  readonly address: string;
  readonly token: BootstrapToken;
  /** By which of its addresses the cluster is to reach the machine. */
  readonly nodeIp?: string | undefined;
}

/** What the steps of a join work with. */
export interface JoinDeps {
  readonly machine: ThisMachine;
  readonly invitation: Invitation;
  readonly proof: Proof;
}

/** What the steps of every join find out. */
export interface Found {
  cluster: TrustedCluster;
  way: Way;
  caller: Caller;
  prospect: Prospect;
  identity: AgentIdentity;
}

/**
 * What all joins have in common. Whatever may be refused is, before `enter` writes the first file: until then, a join has left nothing
 * on the machine but its line in the journal.
 */
export function createNewcomer({ machine, invitation, proof }: JoinDeps) {
  const { known, get } = createKnown<Found>();
  const { role, token } = invitation;
  return {
    get,
    /** Tells what is doubtful about the machine, and throws an OperatorError with every reason why it cannot be a node. */
    async preflight({ tell }: StepScope): Promise<void> {
      const isBegun = (await readRole(agentPlacesIn(machine.root))) === role;
      const { faults, warnings } = await preflight({ ...machine, isBegun }, role);
      if (warnings.length > 0) tell(warnings.join("; "));
      if (faults.length > 0) throw new OperatorError(faults.join("; "));
    },
    async trust(scope: StepScope): Promise<void> {
      known.cluster = await trustCluster(invitation.address, proof, scope);
    },
    /** Finds how the cluster is asked, unless the machine is a node of another one; answers with a client. */
    async approach(): Promise<KubeClient> {
      await refuseOtherCluster(machine.root, get("cluster").ca);
      known.way = await findWay(get("cluster"), invitation.address, machine.root);
      await known.caller?.client.close();
      known.caller = await findCaller(machine.root, invitation, known.way);
      await refuseUnknownToken(known.caller);
      return known.caller.client;
    },
    async choose(): Promise<Prospect> {
      return (known.prospect = await findProspect(get("caller"), machine, invitation));
    },
    async enter({ signal }: StepScope): Promise<void> {
      const { client } = get("caller");
      const [cluster, way, prospect] = [get("cluster"), get("way"), get("prospect")];
      known.identity = await enter(machine, { cluster, way, client, prospect, role, token }, signal);
    },
    /** Makes the machine what this configuration says, while nothing else does. */
    async apply(config: MachineConfig, { signal, tell }: StepScope): Promise<void> {
      await waitForLock(get("identity").places.lock, signal, async () => {
        await applyMachine({ ...machine, readSecret: noSecret }, config, { signal, tell });
      });
    },
    close: async (): Promise<void> => await known.caller?.client.close(),
  };
}

/** An API server learns of a token that was made a moment ago, and of the end of one, by itself. */
async function refuseUnknownToken({ client, token }: Caller): Promise<void> {
  if (token === undefined) return;
  await client.get("/version").catch((cause: unknown) => {
    if (!(cause instanceof KubeError) || cause.status !== 401) throw cause;
    const words = `bootstrap token ${token.id} is not known to the API server: unless it was made a moment ago, it has expired; make one with 'gardenadm token create --print-join-command'`;
    throw new StepError(words, [], { cause, within: 3_000 });
  });
}

/** Waits until the Node of a machine is ready. */
export async function nodeReady(client: KubeClient, name: string, scope: StepScope): Promise<void> {
  await until(`Node ${name} is not ready`, scope, async () => {
    const node = await client.read(Node, { name });
    return node === undefined ? "it does not exist" : isReady(node);
  });
}
