import { Shoot } from "../../src/api/index.ts";
import { createShootClient } from "../../src/client/shoots.ts";
import { refTo } from "../../src/kube/index.ts";
import { eventually } from "../support/eventually.ts";
import { renderShoot } from "./garden.ts";
import type { Lab } from "./lab.ts";

/** A Shoot of the lab. */
export interface LabShoot {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  /** Its namespace in the seeds. */
  readonly technicalID: string;
  read(): Promise<Shoot | undefined>;
  /** Asks for another seed. */
  bind(seed: string): Promise<void>;
  /** Waits until the operation of this type has succeeded on this seed and nothing is left on others. */
  settles(type: string, seed: string, timeout?: number): Promise<Shoot>;
  /** Confirms and asks for the deletion, and waits for it. */
  remove(timeout?: number): Promise<void>;
}

/** Creates the example Shoot on a seed; nothing is waited for. */
export async function createLabShoot(lab: Lab, name: string, seed: string): Promise<LabShoot> {
  const gardenClient = lab.garden.client;
  const { metadata } = await gardenClient.create(await renderShoot(name, seed));
  const { namespace, uid = "" } = metadata;
  const ref = refTo(Shoot, { namespace, name });
  const shoots = createShootClient(lab.temporal.client);

  const read = async () => {
    const shoot = await gardenClient.read(ref);
    return shoot?.metadata.uid === uid ? shoot : undefined;
  };
  const explain = async (wanted: string) => {
    const { lastOperation, lastErrors, seeds } = (await read())?.status ?? {};
    const steps = (await shoots.progress({ namespace, name, uid }).catch(() => undefined))?.steps ?? [];
    const open = steps.filter(({ state }) => !["done", "pending", "skipped"].includes(state));
    return `Shoot ${name} is not ${wanted}: ${JSON.stringify({ lastOperation, lastErrors, seeds, open })}`;
  };
  const within = async <T>(wanted: string, timeout: number, look: () => Promise<T | false>) => {
    try {
      return await eventually(look, timeout);
    } catch (cause) {
      throw new Error(await explain(wanted), { cause });
    }
  };

  return {
    ...{ name, namespace, uid, read },
    technicalID: `shoot--dev--${name}`,
    bind: async (seedName) => void (await gardenClient.patch(ref, { spec: { seedName } })),
    settles: (type, wanted, timeout = 60_000) =>
      within(`through with ${type} on ${wanted}`, timeout, async () => {
        const shoot = await read();
        const { lastOperation, seeds = [], seedName } = shoot?.status ?? {};
        const done = lastOperation?.type === type && lastOperation.state === "Succeeded";
        return shoot && done && seedName === wanted && seeds.every((one) => one === wanted) ? shoot : false;
      }),
    async remove(timeout = 60_000) {
      await gardenClient.patch(ref, { metadata: { annotations: { "confirmation.gardener.cloud/deletion": "true" } } });
      await gardenClient.remove(ref, { uid });
      await within("gone", timeout, async () => (await read()) === undefined);
    },
  };
}
