import { isDeepStrictEqual } from "node:util";
import { MACHINE_NAMESPACE_LABEL } from "../../api/labels.ts";
import { Worker } from "../../api/index.ts";
import type { Guard } from "../../extension/index.ts";
import {
  areUsagesOf,
  CertificateSigningRequest,
  createController,
  createReflector,
  decideRequest,
  isPending,
  readCertificateRequest,
  type KubeClient,
  type Reflector,
} from "../../kube/index.ts";
import type { MachineStatus } from "../../local/machine/machine.ts";
import type { Machines } from "../../local/machine/machines.ts";
import type { Logger } from "../../log.ts";
import { permitted } from "../permitted.ts";
import type { ShootAccess } from "../shoot-access.ts";
import type { Runner } from "../volumes.ts";
import { isActive } from "./machine-keeper.ts";

/** The host's machines, and the way to the Shoots whose kubelets run on them. */
export interface ServingCertificateDeps {
  readonly client: KubeClient;
  readonly machines: Pick<Machines, "list">;
  readonly shoots: Pick<ShootAccess, "open">;
  readonly guard: Guard;
  readonly log: Logger;
}

/**
 * Approves what the kubelets of this seed's Workers ask for to serve with, as who made the machines knows it: each for its
 * own machine's name and address. Whatever else they ask for is denied; what others ask for is left for others to judge.
 */
export function createServingCertificates({ client, machines, shoots, guard, log }: ServingCertificateDeps): Runner {
  const watches = new Map<string, Watch>();
  const queue = createController({ name: "serving-certificates", log, reconcile: ({ name }) => approve(name) });
  const workers = createReflector(client, Worker, {
    log,
    onEvent: ({ object }) => queue.enqueue({ name: object.metadata.namespace }),
  });

  async function approve(namespace: string): Promise<void | { requeueAfter: number }> {
    const object = workers.list(namespace).find(isActive);
    if (object === undefined) return await unwatch(namespace);
    const shootClient = await shoots.open(namespace);
    await watch(namespace, shootClient);
    const pending = (await shootClient.list(CertificateSigningRequest, selection)).filter(isPending);
    if (pending.length === 0) return { requeueAfter: RECHECK };
    const present = await machines.list({ [MACHINE_NAMESPACE_LABEL]: namespace });
    for (const request of pending) {
      const { name } = request.metadata;
      const { username: user } = request.spec;
      const machine = present.find((each) => user === `system:node:${each.name}`);
      if (machine === undefined) {
        log.warn({ request: name, user, namespace }, "request fits no machine");
        continue;
      }
      const refused = refusalOf(request, machine);
      const decision = refused === undefined ? APPROVED : { denied: refused };
      await permitted(guard, { object, cluster: undefined, type: "Reconcile" }, async (permit) => {
        permit.check();
        await decideRequest(shootClient, request, decision);
      });
      if (refused === undefined) log.info({ machine: machine.name, namespace }, "serving certificate approved");
      else log.warn({ request: name, machine: machine.name, namespace, refused }, "serving certificate denied");
    }
    return { requeueAfter: RECHECK };
  }

  async function watch(namespace: string, shootClient: KubeClient): Promise<void> {
    if (watches.get(namespace)?.of === shootClient) return;
    await unwatch(namespace);
    const onEvent = () => queue.enqueue({ name: namespace });
    const requests = createReflector(shootClient, CertificateSigningRequest, { ...selection, log, onEvent });
    watches.set(namespace, { of: shootClient, requests });
    requests.start();
  }

  async function unwatch(namespace: string): Promise<void> {
    const known = watches.get(namespace);
    watches.delete(namespace);
    await known?.requests.stop();
  }

  return {
    start() {
      workers.start();
      queue.start();
    },
    synced: () => workers.synced(),
    async stop() {
      await Promise.all([workers.stop(), queue.stop()]);
      await Promise.all([...watches.keys()].map(unwatch));
    },
  };
}

interface Watch {
  readonly of: KubeClient;
  readonly requests: Reflector<CertificateSigningRequest>;
}

const selection = { fieldSelector: "spec.signerName=kubernetes.io/kubelet-serving" };

const APPROVED = { approved: "It is the machine's own name and address." };

/** Returns why a kubelet does not get what it asks for: it asks for more, or less, than what is its own machine's. */
function refusalOf({ spec }: CertificateSigningRequest, { name, address }: MachineStatus): string | undefined {
  const asked = readCertificateRequest(spec.request);
  if ("malformed" in asked) return `the request is malformed: ${asked.malformed}`;
  const { commonName, organizations, hosts } = asked;
  if (commonName !== `system:node:${name}` || !isDeepStrictEqual(organizations, ["system:nodes"]))
    return `the subject must be system:node:${name} of system:nodes, and nothing else`;
  if (!isDeepStrictEqual(hosts.toSorted(), [name, address].toSorted()))
    return `the alternative names must be ${name} and ${address}, and nothing else`;
  const { usages = [] } = spec;
  return areUsagesOf("server auth", usages) ? undefined : `usages ${usages.join(", ")} are not those of a server`;
}

/** Milliseconds after which a Shoot is looked at again although no request came: its kubeconfig may be another. */
const RECHECK = 60_000;
