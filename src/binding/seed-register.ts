import { SEED_IDENTITIES_NAMESPACE } from "../api/names.ts";
import type { KubeClient } from "../kube/index.ts";
import { createRecord, type RecordVersion } from "./record.ts";
import type { BindingRegister } from "./register.ts";
import { formatRevision, parseRevision, type Revision } from "./revision.ts";

/** Names a Seed: another one of the same name, made after this one was deleted, is bound anew. */
export interface RegisteredSeed {
  readonly name: string;
  readonly uid: string;
}

/** The revision of a cluster that was refused and asks to be the Seed; undefined if none does. */
export interface SeedRegister extends BindingRegister<RecordVersion> {
  readClaim(): Promise<Revision | undefined>;
}

/** The register of a seed: a ConfigMap in the garden, which has the Seed's name and stands with its service account. */
export function createSeedRegister(gardenClient: KubeClient, { name, uid }: RegisteredSeed): SeedRegister {
  const record = createRecord(gardenClient, { namespace: SEED_IDENTITIES_NAMESPACE, name });
  /** What stands there of an earlier Seed of the name says nothing of this one. */
  const read = async () => {
    const version = await record.read();
    return { version, data: version.data["seed"] === uid ? version.data : {} };
  };
  return {
    async read() {
      const { version, data } = await read();
      return { revision: parseRevision(data["revision"]), rebindTo: parseRevision(data["rebindTo"]), version };
    },
    take: ({ version, rebindTo }, revision) =>
      record.swap(version, {
        seed: uid,
        revision: formatRevision(revision),
        ...(rebindTo && { rebindTo: null, claim: null }),
      }),
    rebind: ({ version }, to) => record.swap(version, { rebindTo: formatRevision(to) }),
    async claim(own) {
      const { version, data } = await read();
      if (data["claim"] !== formatRevision(own)) await record.swap(version, { claim: formatRevision(own) });
    },
    readClaim: async () => parseRevision((await read()).data["claim"]),
  };
}
