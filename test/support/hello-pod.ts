import { Pod, typeMeta, type KubeClient } from "../../src/kube/index.ts";
import { cacheDirectory } from "../../src/local/binary/binaries.ts";
import { buildImages, helloImage } from "../../src/local/image/images.ts";
import { createLogger } from "../../src/log.ts";
import { eventually } from "./eventually.ts";
import type { GardenadmMachine } from "./gardenadm-machine.ts";

/** Gives a machine the image of such a pod. */
export async function loadHello({ ground, name }: GardenadmMachine): Promise<void> {
  const images = await buildImages(cacheDirectory(), createLogger({ name: "hello", level: "warn" }));
  await ground.machines.loadImages(
    name,
    images.filter((image) => image.name === helloImage),
  );
}

/** Runs a pod on this machine's node that greets at port 8080; answers with its address once it is ready. */
export async function helloOn(client: KubeClient, machine: GardenadmMachine): Promise<string> {
  await loadHello(machine);
  const nodeName = machine.name;
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
