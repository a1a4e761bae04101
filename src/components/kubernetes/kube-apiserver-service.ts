import type { KubeObject } from "../../api/index.ts";
import type { ControlPlaneContext } from "../context.ts";
import { TUNNEL_PORT } from "../tunnel/names.ts";
import { controlPlaneLabels, controlPlaneRole } from "../workload.ts";

/**
 * The way in to the Shoot's API server, and to the tunnel beside it. It bears the annotations of the Shoot's ExposureClass;
 * all others for a provider's load balancer are its webhook's business.
 */
export function kubeApiServerService(context: ControlPlaneContext): KubeObject[] {
  const { namespace, tunnel, loadBalancerAnnotations: annotations } = context;
  const labels = controlPlaneLabels("apiserver");
  const metadata = {
    ...{ name: "kube-apiserver", namespace, labels: { ...labels, ...controlPlaneRole } },
    ...(annotations && { annotations }),
  };
  const port = (name: string, number: number) => ({ name, protocol: "TCP", port: number, targetPort: number });
  const ports = [port("kube-apiserver", 443), ...(tunnel === true ? [port("tunnel", TUNNEL_PORT)] : [])];
  return [{ apiVersion: "v1", kind: "Service", metadata, spec: { type: "LoadBalancer", selector: labels, ports } }];
}
