import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { spawnChild } from "./child.ts";
import type { ControlPlane } from "./control-plane.ts";
import { freePorts } from "./free-ports.ts";

/** Kubernetes' own signer of approved requests. */
export interface KubernetesSigner {
  stop(): Promise<void>;
}

/** Starts kube-controller-manager, which signs what is approved with the cluster's CA. */
export async function startKubernetesSigner({ authority, kubeconfigFile }: ControlPlane): Promise<KubernetesSigner> {
  const directory = await mkdtemp(join(tmpdir(), "perennial-signer-"));
  const [certificate, key] = [join(directory, "ca.crt"), join(directory, "ca.key")];
  await writeFile(certificate, authority.certificate);
  await writeFile(key, authority.key, { mode: 0o600 });
  const [port] = await freePorts(1);
  const child = await spawnChild(directory, "kube-controller-manager", [
    `--kubeconfig=${kubeconfigFile}`,
    "--controllers=certificatesigningrequest-signing-controller",
    "--leader-elect=false",
    "--bind-address=127.0.0.1",
    `--secure-port=${port}`,
    `--cluster-signing-cert-file=${certificate}`,
    `--cluster-signing-key-file=${key}`,
    "--cluster-signing-duration=720h",
  ]);
  return {
    async stop() {
      await child.kill();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
