import { NO_CLEANUP_LABEL } from "../../api/labels.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import type { ShootRun } from "../../api/shoot/run.ts";
import {
  components,
  etcdEvents,
  SHOOT_WEBHOOKS,
  type ComponentName,
  type ControlPlaneContext,
} from "../../components/index.ts";
import { isConflict, Namespace, PersistentVolumeClaim, refOf, refTo, type KubeClient } from "../../kube/index.ts";
import { readContext } from "./context.ts";
import { inVersion, readEtcdData, readEtcdVersions } from "../etcd/directories.ts";
import { readExposure, type ExposureHandlers } from "./exposure.ts";
import type { Until, WaitTarget } from "../index.ts";
import { removeAnnotated } from "../teardown/removal.ts";
import type { ShootClients } from "../shoot/clients.ts";
import type { Waits } from "../waits/waits.ts";
import { wavesOf } from "./waves.ts";

/** `seedClient` is the run's fenced client; `shootClients` have our rights in the Shoots. */
export interface ComponentDeps {
  readonly gardenClient: KubeClient;
  readonly seedClient: KubeClient;
  readonly shootClients: ShootClients;
  readonly waits: Waits;
  /** What the seed's worker is told of ExposureClasses. */
  readonly exposureHandlers?: ExposureHandlers | undefined;
}

/** Deploys and destroys what runs in, and for, a control plane. */
export function createComponents(deps: ComponentDeps) {
  const { gardenClient, seedClient, shootClients, waits, exposureHandlers } = deps;
  const clientFor = (run: ShootRun, component: ComponentName) =>
    components[component].target === "seed" ? Promise.resolve(seedClient) : shootClients.get(run.technicalID);

  const applyAll = async (
    run: ShootRun,
    component: ComponentName,
    objects: readonly KubeObject[],
    step: string,
  ): Promise<WaitTarget[]> => {
    const client = await clientFor(run, component);
    const awaited = objects.filter((object) => rollsOut(component, object));
    const group = waits.group(step, awaited.length);
    const applyOne = async (object: KubeObject): Promise<WaitTarget[]> => {
      if (!awaited.includes(object)) {
        await client.apply(client === seedClient ? object : kept(object));
        return [];
      }
      const target = targetOf(object, object.kind === "Service" ? "addressed" : "rolledOut");
      const { generation } = (await client.apply(annotated(object, group.registration(target)))).metadata;
      return [{ ...target, ...(generation === undefined ? {} : { generation }) }];
    };
    const targets: WaitTarget[] = [];
    for (const wave of wavesOf(objects)) targets.push(...(await Promise.all(wave.map(applyOne))).flat());
    return targets;
  };

  /**
   * Deploys etcds by what their claims report of their data. A StatefulSet that others have written meanwhile is not written over: a worker that was
   * paused after it had read a claim would bring data back that were replaced since.
   */
  const applyEtcds = async (
    run: ShootRun,
    step: string,
    describe: (context: ControlPlaneContext) => readonly KubeObject[],
  ): Promise<WaitTarget[]> => {
    for (let attempt = 1; ; attempt += 1) {
      const versions = await readEtcdVersions(seedClient, run);
      const context = await readContext(gardenClient, seedClient, run);
      const objects = describe({ ...context, ...(await readEtcdData(seedClient, run)) });
      try {
        return await applyAll(run, "etcd", objects.map(inVersion(versions)), step);
      } catch (error) {
        if (!isConflict(error) || attempt === MOST_ATTEMPTS) throw error;
      }
    }
  };

  return {
    /** Applies every object, as many at a time as can be; returns the workloads whose roll-out the flow waits for. */
    async deploy(run: ShootRun, component: ComponentName, step: string): Promise<WaitTarget[]> {
      if (component === "etcd") return await applyEtcds(run, step, components.etcd.objects);
      const context = await readContext(gardenClient, seedClient, run);
      const isWayIn = component === "kube-apiserver-service";
      const exposure = isWayIn ? await readExposure(gardenClient, context, exposureHandlers) : {};
      return await applyAll(run, component, components[component].objects({ ...context, ...exposure }), step);
    },

    /** The same for that part of etcd which needs nothing of the Shoot's past. */
    async deployEtcdEvents(run: ShootRun, step: string): Promise<WaitTarget[]> {
      return await applyEtcds(run, step, etcdEvents);
    },

    /** Removes from the Shoot the webhooks of its resource manager: without that, they keep pods from being made. */
    async removeStaleWebhooks(run: ShootRun): Promise<void> {
      const client = await shootClients.get(run.technicalID);
      await client.remove({ ...webhooks, name: SHOOT_WEBHOOKS });
    },

    /**
     * Deletes every object; volumes' claims go with their StatefulSet. What is gone already is fine: without a namespace
     * nothing is asked for, not even what objects are made from, which may never have existed.
     */
    async destroy(run: ShootRun, component: ComponentName, step: string): Promise<WaitTarget[]> {
      const namespace = await seedClient.read(Namespace, { name: run.technicalID });
      if (namespace === undefined) return [];
      const client = await clientFor(run, component);
      const objects = components[component].objects(await readContext(gardenClient, seedClient, run));
      const found = (await Promise.all(objects.map((object) => client.read(refOf(object))))).filter(
        (object) => object !== undefined,
      );
      const awaited = found.filter((object) => rollsOut(component, object));
      const group = waits.group(step, awaited.length);
      for (const object of found.reverse()) {
        const { uid } = object.metadata;
        const annotations = awaited.includes(object) ? group.registration(targetOf(object, "gone"), uid) : {};
        await removeAnnotated(client, object, annotations, { propagationPolicy: "Foreground" });
      }
      for (const claim of claimsOf(objects)) await seedClient.remove(claim);
      return awaited.map((object) => targetOf(object, "gone"));
    },
  };
}

const MOST_ATTEMPTS = 5;

const webhooks = { apiVersion: "admissionregistration.k8s.io/v1", kind: "MutatingWebhookConfiguration" };

/** Whether the flow waits for the object here. What runs on the Shoot's nodes is waited for once there are nodes. */
function rollsOut(component: ComponentName, { kind, metadata }: KubeObject): boolean {
  const { target, rollout } = components[component];
  return target === "seed" && rollout.some((ref) => ref.kind === kind && ref.name === metadata.name);
}

/** What we deploy into a Shoot stays when the users' objects are cleaned: it goes with the control plane. */
function kept(object: KubeObject): KubeObject {
  const labels = { ...object.metadata.labels, [NO_CLEANUP_LABEL]: "true" };
  return { ...object, metadata: { ...object.metadata, labels } };
}

/** Gardener's time-outs: kube-apiserver and etcd five minutes, load balancers ten. */
function targetOf(object: KubeObject, until: Until): WaitTarget {
  const { namespace, name } = object.metadata;
  return {
    apiVersion: object.apiVersion,
    kind: object.kind,
    name,
    ...(namespace === undefined ? {} : { namespace }),
    until,
    severeAfter: 300_000,
    deadline: until === "addressed" ? 600_000 : 300_000,
  };
}

function annotated(object: KubeObject, annotations: Record<string, string>): KubeObject {
  return {
    ...object,
    metadata: { ...object.metadata, annotations: { ...object.metadata.annotations, ...annotations } },
  };
}

/** Kubernetes keeps the claims of a StatefulSet that is deleted; names are `<template>-<set>-<ordinal>`. */
function claimsOf(objects: readonly KubeObject[]) {
  return objects.flatMap(({ kind, metadata, ...object }) => {
    const { volumeClaimTemplates = [] } = (object["spec"] ?? {}) as { volumeClaimTemplates?: readonly KubeObject[] };
    if (kind !== "StatefulSet") return [];
    return volumeClaimTemplates.map((template) =>
      refTo(PersistentVolumeClaim, {
        name: `${template.metadata.name}-${metadata.name}-0`,
        namespace: metadata.namespace ?? "",
      }),
    );
  });
}
