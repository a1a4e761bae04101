import { join } from "node:path";
import type { Environment } from "../environment/environment.ts";
import { writeIfChanged } from "./private-file.ts";
import type { Pki } from "./pki.ts";
import { renderYaml } from "../../yaml.ts";

const authority = "ca-webhook-client";

/** The certificate of the authority by which the garden's webhooks know the garden's API server. */
export function webhookClientAuthority({ stateDir }: Pick<Environment, "stateDir">): string {
  return join(stateDir, "clusters", "garden", "pki", `${authority}.crt`);
}

/**
 * Writes what an API server needs to show a client certificate to the webhooks that it calls, and returns the file for its
 * `--admission-control-config-file`. The certificate's authority signs nothing else, so that whatever shows one of its
 * certificates is that API server.
 */
export async function writeWebhookClient(folder: string, pki: Pki): Promise<string> {
  const { certificateFile, keyFile } = await pki.issue(await pki.authority(authority), {
    name: "webhook-client",
    commonName: "kube-apiserver",
  });
  const user = { "client-certificate": certificateFile, "client-key": keyFile };
  const kubeConfigFile = await writeIfChanged(
    join(folder, "webhook-client.yaml"),
    // `*` stands for every webhook that has no entry of its own.
    renderYaml({ apiVersion: "v1", kind: "Config", users: [{ name: "*", user }] }),
  );
  const configuration = { apiVersion, kind: "WebhookAdmissionConfiguration", kubeConfigFile };
  const plugins = ["MutatingAdmissionWebhook", "ValidatingAdmissionWebhook"].map((name) => ({ name, configuration }));
  return await writeIfChanged(
    join(folder, "admission.yaml"),
    renderYaml({ apiVersion, kind: "AdmissionConfiguration", plugins }),
  );
}

const apiVersion = "apiserver.config.k8s.io/v1";
