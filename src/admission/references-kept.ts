import { isDeepStrictEqual } from "node:util";
import {
  BackupEntry,
  ControllerDeployment,
  ControllerInstallation,
  ControllerRegistration,
  Seed,
} from "../api/index.ts";
import type { Kind, KubeClient } from "../kube/index.ts";
import type { ClusterKey } from "../api/schema/kind.ts";
import type { KubeObject } from "../api/schema/meta.ts";
import { judge, type Cause, type Webhook } from "./review.ts";

/** Judges ControllerInstallations: what they name is there. What has not changed is not judged again. */
export function createControllerInstallationValidator({ client }: { client: KubeClient }): Webhook {
  return async ({ object, oldObject }) => {
    const { spec, metadata } = ControllerInstallation.parse(object);
    if (metadata.deletionTimestamp !== undefined || isDeepStrictEqual(spec, oldObject?.["spec"])) return judge([]);
    const named: readonly [string, string | undefined, Kind<KubeObject, "Cluster">][] = [
      ["spec.registrationRef.name", spec.registrationRef.name, ControllerRegistration],
      ["spec.seedRef.name", spec.seedRef?.name, Seed],
      ["spec.deploymentRef.name", spec.deploymentRef?.name, ControllerDeployment],
    ];
    const causes = named.map(async ([field, name, kind]): Promise<Cause[]> => {
      if (name === undefined) return [];
      const key: ClusterKey = { name };
      return (await client.read(kind, key)) ? [] : [{ field, message: `there is no ${kind.kind} ${name}` }];
    });
    return judge((await Promise.all(causes)).flat());
  };
}

/** Lets no BackupBucket be deleted in which a BackupEntry is (Gardener: ResourceReferenceManager). */
export function createBackupBucketValidator({ client }: { client: KubeClient }): Webhook {
  return async ({ name = "" }) => {
    const entries = (await client.list(BackupEntry)).filter(({ spec }) => spec.bucketName === name);
    if (entries.length === 0) return judge([]);
    const names = entries.slice(0, 10).map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
    const message = `holds backups of ${names.join(", ")}: wait until their BackupEntries are gone`;
    return judge([{ field: "metadata.name", message, forbidden: true }]);
  };
}
