import { join } from "node:path";
import { execa } from "execa";
import { SEED_IDENTITIES_NAMESPACE } from "../../src/api/names.ts";
import { renderKubeconfig } from "../../src/kube/index.ts";
import { seedName, type Grounds } from "./grounds.ts";

const root = join(import.meta.dirname, "../..");

/** The path of a certificate or a key, by its file name. */
export type Secrets = (name: string) => string;

/** Makes certificates for a gateway at this host and its callers, and the keys for ShootStates, as docs/deploying.md says. */
export async function makeSecrets({ environment }: Grounds, host: string): Promise<Secrets> {
  const folder = join(environment.stateDir, "secrets");
  await execa(join(root, "deploy/temporal/make-certificates.sh"), [folder, host, seedName]);
  const file = (name: string) => join(folder, name);
  for (const holder of ["garden", seedName])
    await execa(join(root, "bin/perennial"), ["state-key", "add", holder, file(`state-keys-${holder}.json`)]);
  return file;
}

/** The kubeconfig of the seed's identity in the garden, which is a service account. */
export async function seedKubeconfig({ garden }: Grounds): Promise<string> {
  const identities = ["--namespace", SEED_IDENTITIES_NAMESPACE];
  await garden.kubectl([...identities, "create", "serviceaccount", seedName]);
  const token = await garden.kubectl([...identities, "create", "token", seedName, "--duration", "24h"]);
  return renderKubeconfig({ server: garden.server, ca: garden.authority.certificate, token });
}
