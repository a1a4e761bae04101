import { isDeepStrictEqual } from "node:util";
import { mergeProfiles } from "../api/core/profile-merge.ts";
import { CloudProfile, NamespacedCloudProfile } from "../api/index.ts";
import type { KubeObject, NamespacedMeta } from "../api/schema/meta.ts";
import {
  createController,
  createReflector,
  defineKind,
  inBrief,
  refOf,
  typeMeta,
  type KubeClient,
} from "../kube/index.ts";
import type { Logger } from "../log.ts";

/** The garden, whose profiles are watched. */
export interface NamespacedCloudProfileDeps {
  readonly gardenClient: KubeClient;
  readonly log: Logger;
}

/** Keeps in the status of each NamespacedCloudProfile what it and its parent offer together, when either changes. */
export function createNamespacedCloudProfileController({ gardenClient, log }: NamespacedCloudProfileDeps) {
  const controller = createController({
    name: "namespaced-cloud-profile",
    log,
    async reconcile({ name, namespace }) {
      if (own.get(name, namespace) === undefined) return;
      const profile = await gardenClient.read(NamespacedCloudProfile, { name, namespace: namespace ?? "" });
      if (profile === undefined || profile.metadata.deletionTimestamp !== undefined) return;
      await parents.synced();
      const parent = parents.get(profile.spec.parent.name);
      if (parent === undefined) return; // it comes back with the parent
      const cloudProfileSpec = mergeProfiles(parent.spec, profile.spec);
      const { generation: observedGeneration, resourceVersion } = profile.metadata;
      if (isDeepStrictEqual(profile.status, { cloudProfileSpec, observedGeneration })) return;
      // Replaced as a whole: a merge would keep what the parent offers no more.
      const { apiVersion, kind, metadata } = profile;
      const status = { cloudProfileSpec, ...(observedGeneration !== undefined && { observedGeneration }) };
      await gardenClient.replaceStatus({
        apiVersion,
        kind,
        metadata: { ...metadata, resourceVersion },
        spec: profile.spec,
        status,
      });
      log.info({ profile: `${namespace}/${name}`, parent: refOf(parent).name }, "profile merged");
    },
  });
  const own = createReflector(gardenClient, Child, {
    log,
    keep: parentOnly,
    onEvent: ({ type, object: { metadata } }) => {
      if (type !== "deleted") controller.enqueue({ name: metadata.name, namespace: metadata.namespace });
    },
  });
  const parents = createReflector(gardenClient, CloudProfile, {
    log,
    onEvent: ({ object: { metadata: parent } }) => {
      for (const { metadata, spec } of own.list())
        if (spec.parent.name === parent.name)
          controller.enqueue({ name: metadata.name, namespace: metadata.namespace });
    },
  });
  return {
    start() {
      parents.start();
      own.start();
      controller.start();
    },
    async stop(): Promise<void> {
      await Promise.all([own.stop(), parents.stop()]);
      await controller.stop();
    },
  };
}

interface Child extends KubeObject {
  readonly metadata: NamespacedMeta;
  readonly spec: Pick<NamespacedCloudProfile["spec"], "parent">;
}

/** NamespacedCloudProfiles, by their parents: projects make as many as they like, of a megabyte each. */
const Child = defineKind<Child>({ ...typeMeta(NamespacedCloudProfile), scope: "Namespaced" });

function parentOnly({ apiVersion, kind, metadata, spec: { parent } }: Child): Child {
  return inBrief({ apiVersion, kind, metadata, spec: { parent } });
}
