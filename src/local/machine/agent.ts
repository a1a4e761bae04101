import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseYaml } from "../../parsing.ts";
import { requestJson, type Identity } from "./agent-request.ts";
import { writeBootstrapKubeconfig } from "./agent-kubelet.ts";
import { toUserData, type MachineConfig } from "./machine-config.ts";
import type { UserData } from "./user-data.ts";

/** How an agent changes its machine, and says what it does. */
export interface AgentMachine {
  readonly name: string;
  apply(userData: UserData): Promise<void>;
  say(text: string): void;
}

const directory = "/var/lib/gardener-node-agent";
const tokenFile = join(directory, "credentials/bootstrap-token");
const kubeletIdentity = "/var/lib/kubelet/pki/kubelet-client-current.pem";

/** The configuration of gardener-node-agent that the machine booted with; undefined where it has none, and no agent. */
export function agentConfiguration(): string | undefined {
  if (!existsSync(directory)) return undefined;
  const name = readdirSync(directory)
    .filter((entry) => /^config-.*\.yaml$/.test(entry))
    .sort()
    .at(-1);
  return name && join(directory, name);
}

/**
 * Keeps the machine as the Secret says that the agent's configuration names, as upstream's agent does, from the same
 * documents. Reads it with the machine's token until the kubelet has a certificate, and then forgets the token.
 */
export async function followConfiguration(file: string, machine: AgentMachine): Promise<never> {
  let applied: string | undefined;
  let said = "";
  for (;;) {
    const before = applied;
    try {
      const secret = await readSecret(readConfiguration(file));
      if (secret.text !== applied) {
        await machine.apply(toUserData(parseYaml(secret.text, "osc.yaml") as MachineConfig, machine.name));
        machine.say("the machine is as its cluster says");
      }
      applied = secret.text;
      if (existsSync(kubeletIdentity)) forgetToken();
      said = "";
    } catch (error) {
      // The next round is the retry.
      const problem = `the machine's configuration was not applied: ${String(error)}`;
      if (problem !== said) machine.say(problem);
      said = problem;
    }
    const settled = applied !== undefined && applied === before && existsSync(kubeletIdentity);
    await sleep(settled ? 30_000 : 2_000);
  }
}

/** The part of upstream's NodeAgentConfiguration that matters here. */
interface Configuration {
  readonly apiServer: { readonly server: string; readonly caFile: string };
  readonly controllers: { readonly operatingSystemConfig: { readonly secretName: string } };
}

const readConfiguration = (file: string): Configuration => parseYaml(readFileSync(file, "utf8"), file) as Configuration;

async function readSecret({ apiServer, controllers }: Configuration): Promise<{ readonly text: string }> {
  const { secretName } = controllers.operatingSystemConfig;
  const path = `/api/v1/namespaces/kube-system/secrets/${secretName}`;
  if (existsSync(tokenFile) && !existsSync(kubeletIdentity))
    writeBootstrapKubeconfig(apiServer, readFileSync(tokenFile, "utf8").trim());
  const { data } = (await requestJson(apiServer, path, identity())) as { data?: { "osc.yaml"?: string } };
  const encoded = data?.["osc.yaml"];
  if (encoded === undefined) throw new Error(`Secret kube-system/${secretName} has no osc.yaml`);
  return { text: Buffer.from(encoded, "base64").toString("utf8") };
}

/** The kubelet's certificate and key are in one file. */
function identity(): Identity {
  if (!existsSync(kubeletIdentity)) return { token: readFileSync(tokenFile, "utf8").trim() };
  const pem = readFileSync(kubeletIdentity, "utf8");
  return { cert: pem, key: pem };
}

function forgetToken(): void {
  for (const file of [tokenFile, "/var/lib/kubelet/kubeconfig-bootstrap"]) rmSync(file, { force: true });
}
