import { Pod, typeMeta, type KubeClient } from "../../src/kube/index.ts";
import { helloImage } from "../../src/local/image/images.ts";
import { eventually } from "./eventually.ts";

/** Runs a pod on this node that greets at port 8080; answers with its address once it is ready. */
export async function helloOn(client: KubeClient, nodeName: string): Promise<string> {
  const key = { namespace: "default", name: `hello-${nodeName}` };
  const container = {
    ...{ name: "hello", image: helloImage, imagePullPolicy: "IfNotPresent" },
    readinessProbe: { httpGet: { path: "/", port: 8080 }, periodSeconds: 1 },
  };
  await client.apply({ ...typeMeta(Pod), metadata: key, spec: { nodeName, containers: [container] } });
  return await eventually(async () => {
    const { conditions = [], ...status } = (await client.read(Pod, key))?.status ?? {};
    const { podIP = "" } = status as { readonly podIP?: string };
    const isReady = conditions.some((each) => each.type === "Ready" && each.status === "True");
    return isReady && podIP;
  }, 120_000);
}
