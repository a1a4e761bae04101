import type { KubeObject } from "../../src/api/schema/meta.ts";
import { helloImage } from "../../src/local/image/images.ts";

/** A user's pod that runs on the node of this name, whatever keeps pods away from it. */
export const hello = (nodeName: string): KubeObject => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "hello", namespace: "default" },
  spec: {
    nodeSelector: { "kubernetes.io/hostname": nodeName },
    tolerations: [{ operator: "Exists" }],
    containers: [
      {
        name: "hello",
        image: helloImage,
        imagePullPolicy: "IfNotPresent",
        readinessProbe: { httpGet: { path: "/", port: 8080 }, periodSeconds: 1 },
      },
    ],
  },
});
