import { SHOOT_GONE_ANNOTATION } from "../api/annotations.ts";
import type { BackupBucket, BackupEntry } from "../api/index.ts";
import { inBrief, inShort } from "../kube/index.ts";
import { omitUndefined } from "../omit-undefined.ts";

/** What is remembered of a BackupEntry. Seeds write them, in part past all webhooks, and may write anything beside what is read here. */
export function knownEntry({ apiVersion, kind, metadata, spec }: BackupEntry): BackupEntry {
  const [bucketName = "", seedName] = [spec.bucketName, spec.seedName].map(inShort);
  return {
    ...inBrief({ apiVersion, kind, metadata }, [SHOOT_GONE_ANNOTATION]),
    spec: { bucketName, ...omitUndefined({ seedName }) },
  };
}

/** What is remembered of a BackupBucket, which a seed writes as it does BackupEntries. */
export function knownBucket({ apiVersion, kind, metadata, spec }: BackupBucket): BackupBucket {
  const { provider, seedName, credentialsRef } = spec;
  const [type = "", region = ""] = [provider.type, provider.region].map(inShort);
  return {
    ...inBrief({ apiVersion, kind, metadata }),
    spec: {
      provider: { type, region },
      ...omitUndefined({
        seedName: inShort(seedName),
        credentialsRef: credentialsRef && inShortReference(credentialsRef),
      }),
    },
  };
}

type Reference = NonNullable<BackupBucket["spec"]["credentialsRef"]>;

/** A reference by kind, name and namespace. */
const inShortReference = ({ apiVersion, kind, name, namespace }: Reference): Reference =>
  omitUndefined({
    ...{ apiVersion: inShort(apiVersion), kind: inShort(kind) },
    ...{ name: inShort(name), namespace: inShort(namespace) },
  });
