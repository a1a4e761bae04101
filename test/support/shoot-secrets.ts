import { Shoot, ShootState } from "../../src/api/index.ts";
import { Secret } from "../../src/kube/index.ts";
import type { TestShoot } from "./e2e-shoots.ts";
import type { LocalEnvironment, SeedName } from "./local-environment.ts";

/**
 * Where the private keys and tokens of a Shoot, which its seed keeps in Secrets, stand in the clear: in the ShootState and
 * the rest of what the garden has of the Shoot, or in any history of its workflows. The user's own kubeconfig is his.
 */
export async function findSecrets(local: LocalEnvironment, shoot: TestShoot, seed: SeedName): Promise<string[]> {
  const secrets = await readSecrets(local, shoot, seed);
  if (secrets.length < 10) throw new Error(`only ${secrets.length} keys and tokens were found: nothing to search for`);
  const places = [...(await gardenObjects(local, shoot)), ...(await histories(local, shoot))];
  if (!places.some(({ place }) => place.startsWith("ShootState"))) throw new Error("there is no ShootState to search");
  return places.flatMap(({ place, text }) =>
    secrets.filter(({ forms }) => forms.some((form) => text.includes(form))).map(({ name }) => `${name} in ${place}`),
  );
}

interface Hidden {
  readonly name: string;
  /** As it is, in base64, and in base64 twice, as a Secret inside of another object would be. */
  readonly forms: readonly string[];
}

async function readSecrets({ seeds }: LocalEnvironment, { technicalID }: TestShoot, seed: SeedName): Promise<Hidden[]> {
  const found = await seeds[seed].list(Secret, { namespace: technicalID });
  return found.flatMap(({ metadata, data = {} }) =>
    Object.entries(data)
      .filter(([key]) => /\.key$|^id_rsa$|^token-secret$/.test(key))
      .flatMap(([key, base64]) => hidden(`${metadata.name}/${key}`, Buffer.from(base64, "base64").toString())),
  );
}

/** A key's own lines, without the frame that all keys share. */
function hidden(name: string, value: string): Hidden[] {
  const lines = value.split("\n").filter((line) => line.length >= 12 && !line.startsWith("-----"));
  const middle = lines[Math.floor(lines.length / 2)] ?? value;
  const whole = Buffer.from(value).toString("base64");
  const inside = whole.slice(40, 120) || whole;
  return [
    {
      name,
      forms: [middle, JSON.stringify(value).slice(1, -1), inside, Buffer.from(whole).toString("base64").slice(60, 140)],
    },
  ].map(({ name, forms }) => ({ name, forms: forms.filter((form) => form.length >= 12) }));
}

interface Place {
  readonly place: string;
  readonly text: string;
}

async function gardenObjects(
  { gardenClient }: LocalEnvironment,
  { ref: { namespace, name } }: TestShoot,
): Promise<Place[]> {
  const [states, shoot] = await Promise.all([
    gardenClient.list(ShootState, { namespace }),
    gardenClient.read(Shoot, { namespace, name }),
  ]);
  return [...states, ...(shoot ? [shoot] : [])].map((object) => ({
    place: `${object.kind} ${object.metadata.name}`,
    text: JSON.stringify(object),
  }));
}

/** Histories with every payload decoded, so that base64 hides nothing. */
async function histories({ temporal }: LocalEnvironment, { ref: { namespace, name } }: TestShoot): Promise<Place[]> {
  const places: Place[] = [];
  for await (const { workflowId, runId } of temporal.workflow.list({ query: `ShootName = "${namespace}/${name}"` })) {
    const history = await temporal.workflow.getHandle(workflowId, runId).fetchHistory();
    const text = JSON.stringify(history, (_key, value: unknown) =>
      value instanceof Uint8Array ? Buffer.from(value).toString() : value,
    );
    places.push({ place: `history ${workflowId} ${runId}`, text });
  }
  if (places.length < 3) throw new Error(`only ${places.length} histories of Shoot ${name} were found`);
  return places;
}
