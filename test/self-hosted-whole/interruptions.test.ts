import { afterAll, beforeAll, expect, test } from "vitest";
import { startControlPlane } from "../../src/gardenadm/init/start-control-plane.ts";
import { Node, Secret } from "../../src/kube/index.ts";
import {
  CONFIGURATION,
  startGardenadmMachine,
  type GardenadmMachine,
  type Interruption,
} from "../support/gardenadm-machine.ts";

let machine: GardenadmMachine;
/** What a run that nothing has disturbed leaves. */
let undisturbed: readonly string[];

beforeAll(async () => {
  machine = await startGardenadmMachine("test-interruptions");
  await finish();
  undisturbed = await machine.files();
});

afterAll(async () => {
  await machine.ground.stop();
});

const steps = [...startControlPlane.steps.keys()];
const interruptions = (["SIGKILL", "power cut"] as const).flatMap((by) => steps.map((step) => [by, step] as const));

test.each<readonly [Interruption, string]>(interruptions)(
  "after a %s in %s, init goes on with the same keys, and ends as if nothing had been",
  async (by, step) => {
    await machine.wipe();
    await machine.interruptInit(step, by);
    const known = await machine.identity();
    await finish();
    const identity = await machine.identity();
    expect(identity).toMatchObject(known);
    expect(Object.keys(identity)).toHaveLength(4);
    expect(await machine.files()).toEqual(undisturbed);
    const client = await machine.client();
    try {
      expect((await client.list(Node)).map(({ metadata }) => metadata.name)).toEqual(["a"]);
      const ca = await client.read(Secret, { namespace: "kube-system", name: "ca-client" });
      const key = await machine.ground.inMachine(
        "a",
        "base64",
        "-w0",
        "/var/lib/static-pods/kube-controller-manager/ca-client/ca.key",
      );
      expect(ca?.data?.["ca.key"]).toBe(key);
    } finally {
      await client.close();
    }
  },
);

async function finish(): Promise<void> {
  const { code, stderr } = await machine.gardenadm("init", "-d", CONFIGURATION);
  expect(code, stderr).toBe(0);
}
