import type { ShootRun } from "../../api/shoot/run.ts";
import { ENCRYPTION_CONFIGURATION, parseEncryption, type Encryption } from "../../components/index.ts";
import { refOf, Secret, unlessGone, type KubeClient, type ObjectRef, type ResourceType } from "../../kube/index.ts";
import { StepError } from "../step-error.ts";
import type { ShootClients } from "../shoot/clients.ts";
import { patchShootStatus, readShoot } from "../shoot/patch.ts";

/** `seedClient` is the run's fenced client; `shootClients` have our rights in the Shoots. */
export interface EncryptionDeps {
  readonly gardenClient: KubeClient;
  readonly seedClient: KubeClient;
  readonly shootClients: ShootClients;
}

/** Keeps what a Shoot has stored in step with how its API server encrypts. */
export function createEncryptionAtRest({ gardenClient, seedClient, shootClients }: EncryptionDeps) {
  return {
    /**
     * Once for each change of what is encrypted, writes every object of the resources concerned anew, as it is: the API
     * server stores it as it would a new one. Then the Shoot's status says what is encrypted. A run that was killed
     * begins anew.
     */
    async encryptResources(run: ShootRun): Promise<void> {
      const { provider, encrypted, decrypted } = await readConfiguration(seedClient, run);
      const shoot = await readShoot(gardenClient, run);
      const recorded = shoot?.status?.credentials?.encryptionAtRest?.resources;
      const changed = [...encrypted.filter((resource) => !recorded?.includes(resource)), ...decrypted];
      if (recorded !== undefined && changed.length === 0) return;
      const client = await shootClients.get(run.technicalID);
      const types = (await client.types()).filter((type) => changed.includes(resourceOf(type)));
      for (const type of types) await rewriteAll(client, type);
      await patchShootStatus(gardenClient, run, {
        credentials: { encryptionAtRest: { resources: encrypted, provider: { type: provider } } },
      });
    },
  };
}

/** The one that the API server was rolled out with: the Shoot's spec may have changed since. */
async function readConfiguration(seedClient: KubeClient, { technicalID }: ShootRun): Promise<Encryption> {
  const { secret: name, key } = ENCRYPTION_CONFIGURATION;
  const secret = await seedClient.read(Secret, { namespace: technicalID, name });
  const found = parseEncryption(Buffer.from(secret?.data?.[key] ?? "", "base64").toString());
  if (found === undefined) throw new StepError(`Secret ${technicalID}/${name} has no EncryptionConfiguration yet`);
  return found;
}

/** A type as an EncryptionConfiguration names it: `secrets`, `statefulsets.apps`. */
function resourceOf({ apiVersion, plural }: ResourceType): string {
  const [group] = apiVersion.includes("/") ? apiVersion.split("/") : [];
  return group === undefined ? plural : `${plural}.${group}`;
}

/** Holds one page of metadata at a time: the Shoot's users decide how many objects there are. */
async function rewriteAll(client: KubeClient, type: ResourceType): Promise<void> {
  const objects = client.metadata(type)[Symbol.asyncIterator]();
  const work = async () => {
    for (let next = await objects.next(); !next.done; next = await objects.next())
      await rewrite(client, refOf(next.value));
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, work));
}

const CONCURRENCY = 8;

/** An empty patch changes nothing; the API server stores the object anew where it is not stored as it would be now. */
async function rewrite(client: KubeClient, ref: ObjectRef): Promise<void> {
  await unlessGone(client.patch(ref, {}));
}
