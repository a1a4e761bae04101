import { TASKS_ANNOTATION } from "../../api/annotations.ts";
import type { AppliedKind, ExtensionObject, Purpose } from "../../api/extensions/kinds.ts";
import { taskOf } from "../../api/extensions/tasks.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import type { ShootRun } from "../../api/shoot/run.ts";
import type { KubeClient } from "../../kube/index.ts";
import { readContext } from "../control-plane/context.ts";
import { deployDnsCredentials, dnsProviderType } from "../control-plane/dns.ts";
import { wantedObjects } from "./wanted.ts";
import type { WaitTarget } from "../index.ts";
import { applyExtensionObject, type Registering } from "./apply-object.ts";
import { confirmAndRemove } from "./existing.ts";
import { led } from "./led.ts";
import { listExtensionObjects } from "./list.ts";
import { isOf, purposeByName, typeOf } from "./purpose.ts";
import { hasMigrated, targetOf } from "./target.ts";
import { needsTrigger, type TriggerRule } from "./trigger.ts";
import type { WaitGroup, Waits } from "../waits/waits.ts";

/** Every write into the seed goes through `seedClient`, which is the run's fenced client. */
export interface ExtensionDeps {
  readonly gardenClient: KubeClient;
  readonly seedClient: KubeClient;
  readonly waits: Waits;
  /** When controllers are asked to act, by their kinds' rule unless told otherwise. */
  readonly triggers?: TriggerRule | undefined;
}

/** In whose name an object is applied; `asked`: a task annotation of the Shoot wants its controller to act. */
interface Applied {
  readonly kind: AppliedKind;
  readonly group: WaitGroup;
  readonly asked?: boolean;
}

/** Applies and removes extension objects, whose controllers belong to providers. */
export function createExtensions({ gardenClient, seedClient, waits, triggers: asks = needsTrigger }: ExtensionDeps) {
  const wantedBy = async (run: ShootRun, kind: AppliedKind, purpose?: Purpose) => {
    const context = await readContext(gardenClient, seedClient, run);
    const objects = await wantedObjects({ gardenClient, seedClient, context, kind, purpose, epoch: run.epoch });
    return { context, objects: objects.map((object) => led(object, run)) };
  };

  const applyOne = async (run: ShootRun, object: KubeObject, { kind, group, asked = false }: Applied) => {
    const { extensions } = run;
    const registration: Registering = (target, uid) => group.registration(target, uid);
    return await applyExtensionObject(seedClient, object, { kind, asked, asks, extensions, registration });
  };

  /** The objects of the kind that there are, and that the Shoot does not ask for. */
  const staleOf = async (run: ShootRun, kind: AppliedKind) => {
    const { objects } = await wantedBy(run, kind);
    const names = new Set(objects.map(({ metadata }) => metadata.name));
    return (await listExtensionObjects(seedClient, run, kind)).filter(({ metadata }) => !names.has(metadata.name));
  };

  /** Confirms and deletes objects; answers with what there is to wait for. */
  const removeAll = (
    ending: readonly { readonly kind: AppliedKind; readonly object: ExtensionObject }[],
    step: string,
  ): Promise<WaitTarget[]> => {
    const group = waits.group(step, ending.length);
    return Promise.all(
      ending.map(async ({ kind, object }) => {
        const target: WaitTarget = { ...targetOf(object, kind), until: "gone" };
        await confirmAndRemove(seedClient, object, group.registration(target, object.metadata.uid));
        return target;
      }),
    );
  };

  return {
    /** Applies every object of the kind with a new operation id; returns what the flow has to wait for. */
    async apply(run: ShootRun, kind: AppliedKind, step: string, purpose?: Purpose): Promise<WaitTarget[]> {
      const { context, objects } = await wantedBy(run, kind, purpose);
      const tasks = (context.shoot.metadata.annotations?.[TASKS_ANNOTATION] ?? "").split(",");
      const asked = ({ metadata }: KubeObject) => tasks.includes(taskOf(kind, purposeByName(kind, run, metadata.name)));
      const group = waits.group(step, objects.length);
      return Promise.all(objects.map((object) => applyOne(run, object, { kind, group, asked: asked(object) })));
    },

    /** Applies one more object of a kind, which the Shoot's spec knows nothing of. */
    applyObject: (run: ShootRun, object: KubeObject, kind: AppliedKind, group: WaitGroup): Promise<WaitTarget> =>
      applyOne(run, led(object, run), { kind, group }),

    /** The objects of the kind that the Shoot's spec asks for now. */
    wanted: async (run: ShootRun, kind: AppliedKind, purpose?: Purpose): Promise<KubeObject[]> =>
      (await wantedBy(run, kind, purpose)).objects,

    /** Applies the DNSRecords that have not migrated yet; while a Shoot moves, their TTL is short. */
    async lowerTtl(run: ShootRun, step: string): Promise<WaitTarget[]> {
      const purposes = [
        ...(run.hasInternalDomain ? (["internal"] as const) : []),
        ...(run.hasExternalDomain ? (["external"] as const) : []),
      ];
      const migrated = new Set(
        (await listExtensionObjects(seedClient, run, "DNSRecord"))
          .filter(hasMigrated)
          .map(({ metadata }) => metadata.name),
      );
      const objects = await Promise.all(purposes.map((purpose) => wantedBy(run, "DNSRecord", purpose)));
      const acting = objects.flatMap((one) => one.objects).filter(({ metadata }) => !migrated.has(metadata.name));
      const group = waits.group(step, acting.length);
      return Promise.all(acting.map((object) => applyOne(run, object, { kind: "DNSRecord", group })));
    },

    /** Removes the objects of the kind that are not wanted any more. */
    async removeStale(run: ShootRun, kind: AppliedKind): Promise<void> {
      const stale = await staleOf(run, kind);
      await Promise.all(stale.map((object) => confirmAndRemove(seedClient, object, {})));
    },

    /**
     * The same for Extensions and ContainerRuntimes, whose ends are waited for. An operation that does not know which
     * Extensions the Shoot has removes none.
     */
    async removeStaleExtensions(run: ShootRun, step: string): Promise<WaitTarget[]> {
      const kinds = run.extensions === undefined ? endedKinds.filter((kind) => kind !== "Extension") : endedKinds;
      const stale = await Promise.all(
        kinds.map(async (kind) => (await staleOf(run, kind)).map((object) => ({ kind, object }))),
      );
      return removeAll(stale.flat(), step);
    },

    /**
     * Copies the credentials of the DNS provider, as they are now, beside the Shoot's DNSRecord of a purpose, where there is one and the
     * provider is still of its type.
     */
    async renewDnsCredentials(run: ShootRun, purpose: "internal" | "external"): Promise<void> {
      const existing = await listExtensionObjects(seedClient, run, "DNSRecord");
      const record = existing.find((object) => isOf("DNSRecord", object, { run, purpose, operation: "delete" }));
      if (record === undefined) return;
      const context = await readContext(gardenClient, seedClient, run);
      if (dnsProviderType(context, purpose) === typeOf(record))
        await deployDnsCredentials(gardenClient, seedClient, context, purpose);
    },

    /** Confirms and deletes every object of the kind that there is, whatever the Shoot's spec says of it now. */
    async remove(run: ShootRun, kind: AppliedKind, step: string, purpose?: Purpose): Promise<WaitTarget[]> {
      const existing = await listExtensionObjects(seedClient, run, kind);
      const meant = existing.filter((object) => isOf(kind, object, { run, purpose, operation: "delete" }));
      return removeAll(
        meant.map((object) => ({ kind, object })),
        step,
      );
    },
  };
}

/** The kinds of which a Shoot has as many as its spec says, and whose controllers have something to take away. */
const endedKinds: readonly AppliedKind[] = ["Extension", "ContainerRuntime"];
