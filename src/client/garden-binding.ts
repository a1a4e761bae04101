import type { Client } from "@temporalio/client";
import { BoundElsewhere } from "../binding/bound-elsewhere.ts";
import type { Memory } from "../binding/memory.ts";
import { formatRevision } from "../binding/revision.ts";
import { createBinding, type Mismatch } from "../binding/binding.ts";
import { createGardenRegister } from "./garden-register.ts";

/** Which garden a namespace of Temporal belongs to. */
export interface GardenBinding {
  /** Binds a namespace that is bound to none; throws `BoundElsewhere` where it is another garden's. */
  bind(): Promise<void>;
  /** Throws `BoundElsewhere` where the namespace is another garden's. One that is bound to none is fine. */
  check(): Promise<void>;
}

/**
 * Binds Temporal's namespace to the cluster of a garden, in the namespace's own data: ids of workflows and names of queues do
 * not say whose they are, and the worker of another garden ends the workflows of Shoots that it does not find.
 */
export function createGardenBinding(client: Client, garden: string): GardenBinding {
  const { workflowService: service } = client;
  const { namespace } = client.options;

  const read = async (): Promise<string | undefined> => {
    const { namespaceInfo } = await service.describeNamespace({ namespace });
    const bound = namespaceInfo?.data?.[KEY];
    if (bound && bound !== garden) throw new BoundElsewhere(explain(namespace, bound, garden));
    return bound || undefined;
  };

  return {
    check: async () => void (await read()),
    async bind() {
      if ((await read()) === garden) return;
      await service.updateNamespace({ namespace, updateInfo: { data: { [KEY]: garden } } });
      await read(); // of two that bind at once, one finds the other
    },
  };
}

/** In the data of Temporal's namespace. */
const KEY = "perennial-garden";

const explain = (namespace: string, bound: string, garden: string): string =>
  `Temporal's namespace ${namespace} belongs to the garden ${bound}, and this is the garden ${garden}: name a namespace ` +
  `of its own in PERENNIAL_TEMPORAL_NAMESPACE, or, when the other garden is gone for good, rebind it: ` +
  `temporal operator namespace update --namespace ${namespace} --data ${KEY}=${garden}`;

/** Confirms that a garden is the one that Temporal's namespace means, and not a copy of it: `memory` is the garden's own. */
export function createGardenConfirmation(client: Client, memory: Memory) {
  const { namespace } = client.options;
  const register = createGardenRegister(client);
  return createBinding({ memory, register, explain: (mismatch) => explainMismatch(namespace, mismatch) });
}

/** What a process of the garden is bound by, as `watchBinding` looks at it; `identity` is the garden's uid. */
export function createGardenLook(client: Client, identity: () => Promise<string>, memory: Memory) {
  const confirmation = createGardenConfirmation(client, memory);
  return async (): Promise<true> => {
    await createGardenBinding(client, await identity()).bind();
    await confirmation.confirm();
    return true;
  };
}

function explainMismatch(namespace: string, { own, named, behind }: Mismatch): string {
  const revisions = `Temporal's namespace ${namespace} is at revision ${formatRevision(named)} of its garden, and this garden is at revision ${formatRevision(own)}`;
  const rebind = `with this garden's kubeconfig: perennial garden rebind`;
  return behind === "register"
    ? `${revisions}, which is later: Temporal was restored from a backup. If no copy of this garden runs, run ${rebind}`
    : `${revisions}: this garden is a copy, or was restored from a backup, and the other one may be running. ` +
        `If this garden is to go on, switch off the other one and run ${rebind}`;
}
