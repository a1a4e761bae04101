import { setTimeout as sleep } from "node:timers/promises";
import { stringify } from "yaml";
import { CONFIRM_DELETION_ANNOTATION } from "../../src/api/annotations.ts";
import { Shoot } from "../../src/api/index.ts";
import { readManifest } from "../../src/manifests.ts";
import type { Grounds } from "./grounds.ts";

/** Half an hour, in ms: far more than a Shoot takes, on a slow machine too. */
const timeout = 1_800_000;

/**
 * Tries Perennial as a user of the garden: a broken Shoot is refused in the words of admission, a terse one is completed by
 * it, becomes Succeeded, and goes when it is deleted.
 */
export async function tryShoot(grounds: Grounds): Promise<void> {
  const { kubectl, client } = grounds.garden;
  const terse = await terseShoot(grounds);
  const { name, namespace } = terse.metadata;
  const apply = (shoot: object) => kubectl(["apply", "--filename", "-"], stringify(shoot));
  await refused(apply({ ...terse, spec: { ...terse.spec, kubernetes: { version: "1.99.0" } } }));
  await apply(terse);
  const read = () => client.read(Shoot, { namespace, name });
  const made = await read();
  const [pool] = made?.spec.provider.workers ?? [];
  if (made?.spec.kubernetes.version !== offered || !pool?.machine.image?.version)
    throw new Error(`Shoot ${namespace}/${name} was not completed by admission: ${JSON.stringify(made?.spec)}`);
  tell(`completed by admission: Kubernetes ${offered}, image ${pool.machine.image.name} ${pool.machine.image.version}`);
  await until("Succeeded", async () => {
    const { lastOperation } = (await read())?.status ?? {};
    if (lastOperation?.state === "Failed") throw new Error(`the Shoot failed: ${lastOperation.description}`);
    if (lastOperation) tell(`${lastOperation.type} ${lastOperation.state} ${lastOperation.progress} %`);
    return lastOperation?.state === "Succeeded";
  });
  await kubectl(["annotate", "--namespace", namespace, "shoot", name, `${CONFIRM_DELETION_ANNOTATION}=true`]);
  await kubectl(["delete", "--wait=false", "--namespace", namespace, "shoot", name]);
  await until("gone", async () => (await read()) === undefined);
}

/** What deploy/examples/cloud-profile.yaml offers for a Shoot that asks for 1.34. */
const offered = "1.34.4";

/** deploy/examples/shoot.yaml in this environment, without what admission fills in. */
async function terseShoot({ environment }: Grounds): Promise<Shoot & { metadata: { namespace: string } }> {
  const [example] = await readManifest("examples/shoot.yaml");
  const text = JSON.stringify(example)
    .replaceAll("perennial.test", environment.domain)
    .replaceAll("172.30.0.0/16", environment.network)
    .replace(`"${offered}"`, '"1.34"')
    .replace(/,"image":\{[^}]*\}/, "");
  return JSON.parse(text) as Shoot & { metadata: { namespace: string } };
}

async function refused(attempt: Promise<string>): Promise<void> {
  const answer = await attempt.catch((error: unknown) => String(error));
  const words = /\S+ is not offered by CloudProfile .*/.exec(answer)?.[0];
  if (words === undefined) throw new Error(`a Shoot of a version that nobody offers is not refused: ${answer}`);
  tell(`refused: ${words}`);
}

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  const begin = Date.now();
  while (!(await holds())) {
    if (Date.now() - begin > timeout) throw new Error(`the Shoot is not ${what} after ${timeout / 60_000} min`);
    await sleep(1_000);
  }
  tell(`Shoot is ${what} after ${Math.round((Date.now() - begin) / 1_000)} s`);
}

let last = "";

/** A line for people; the same one twice in a row is said once. */
export function tell(line: string): void {
  if (line !== last) process.stderr.write(`  ${line}\n`);
  last = line;
}
