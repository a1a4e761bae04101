import type { KubeObject } from "../../api/index.ts";
import { storeOf } from "./backup-place.ts";
import { job, pod } from "./backup-pod.ts";
import type { ControlPlaneContext } from "../context.ts";

/** Runs every image of the control plane once: afterwards its node has them, and pods are known to start there. */
export function warmUpJob(context: ControlPlaneContext, name: string): KubeObject {
  const { kubeApiServer, kubeControllerManager, kubeScheduler, etcd, rclone } = context.images;
  const images = {
    "kube-apiserver": kubeApiServer,
    "kube-controller-manager": kubeControllerManager,
    "kube-scheduler": kubeScheduler,
    etcd,
    ...(storeOf(context) && { rclone }),
  };
  const steps = Object.entries(images).map(([binary, image]) => ({
    name: binary,
    image,
    command: [binary, "--version"],
    volumeMounts: [],
  }));
  return job(context, name, { backoffLimit: 2, ttlSecondsAfterFinished: 3600, template: pod([], steps) });
}
