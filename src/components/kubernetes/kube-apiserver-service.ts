import type { KubeObject } from "../../api/index.ts";
import type { ControlPlaneContext } from "../context.ts";
import { controlPlaneLabels, controlPlaneRole } from "../workload.ts";

/** The way in to the Shoot's API server; annotations for a provider's load balancer are its webhook's business. */
export function kubeApiServerService({ namespace }: ControlPlaneContext): KubeObject[] {
  const labels = controlPlaneLabels("apiserver");
  const metadata = { name: "kube-apiserver", namespace, labels: { ...labels, ...controlPlaneRole } };
  const ports = [{ name: "kube-apiserver", protocol: "TCP", port: 443, targetPort: 443 }];
  return [{ apiVersion: "v1", kind: "Service", metadata, spec: { type: "LoadBalancer", selector: labels, ports } }];
}
