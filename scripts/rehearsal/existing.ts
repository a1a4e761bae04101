import { join } from "node:path";
import { execa } from "execa";
import { applyObjects } from "../../src/local/cluster/objects.ts";
import { webhookClientAuthority } from "../../src/local/cluster/webhook-client.ts";
import { onGrounds, seedName, startProvider, type Grounds } from "./grounds.ts";
import { tell, tryShoot } from "./shoot.ts";

const perennial = join(import.meta.dirname, "../../bin/perennial");

/** docs/getting-started.md, "Clusters that exist", step by step, with admission installed there. */
export async function rehearseExisting(): Promise<void> {
  await onGrounds(async (grounds) => {
    const { environment, garden, seed } = grounds;
    const run = async (...args: string[]) =>
      tell((await execa(perennial, ["local", ...args, "--name", own], { env: surroundings(grounds) })).stderr);
    try {
      await run(
        ...["up", "--garden-kubeconfig", garden.kubeconfig, "--seed", `${seedName}=${seed.kubeconfig}`],
        ...["--webhook-host", environment.gateway, "--webhook-client-ca", webhookClientAuthority(environment)],
      );
      await applyObjects(garden.client, environment, [seedName], grounds);
      await startProvider(grounds);
      await tryShoot(grounds);
    } finally {
      await run("down");
    }
    const left = await garden.kubectl(["get", "validatingwebhookconfigurations,mutatingwebhookconfigurations"]);
    if (left !== "") throw new Error(`webhooks are left in the garden that nobody answers: ${left}`);
  });
}

/** Takes away what a killed rehearsal has left; that its garden is gone, with its webhooks, is what `down` complains of. */
export async function clearExisting(): Promise<void> {
  await execa(perennial, ["local", "down", "--name", own], { reject: false });
}

/** The environment that is brought up beside the grounds. */
const own = "rehearsal-existing";

/** The resolvers of this machine do not know the grounds' domains. */
function surroundings({ environment }: Grounds): Readonly<Record<string, string>> {
  return { PERENNIAL_DNS_RESOLVERS: environment.gateway };
}
