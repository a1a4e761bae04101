import { describe, expect } from "vitest";
import { ZONES_ANNOTATION } from "../../src/api/annotations.ts";
import { createComponents } from "../../src/activities/control-plane/components.ts";
import { toFailure } from "../../src/activities/failure.ts";
import { createShootClients } from "../../src/activities/shoot/clients.ts";
import { Seed, type Shoot } from "../../src/api/index.ts";
import { Namespace, refTo, type KubeClient } from "../../src/kube/index.ts";
import { createLogger } from "../../src/log.ts";
import { test as it } from "../support/cluster-test.ts";
import { inFlight } from "../support/in-flight.ts";
import { applyGarden, createShoot } from "../support/garden-objects.ts";
import { notedWaits } from "../support/noted-waits.ts";

const log = createLogger({ name: "test", level: "silent" });
let kube: KubeClient;
let count = 0;

it.beforeAll(async ({ cluster }) => {
  kube = cluster.client;
  await applyGarden(kube);
});
const newShoot = (spec: Partial<Shoot["spec"]> = {}) => createShoot(kube, `shoot-${(count += 1)}`, spec);

describe("deploying a component", () => {
  const components = (seedClient = kube) =>
    createComponents({
      gardenClient: kube,
      seedClient,
      shootClients: createShootClients(kube, log),
      waits: notedWaits,
    });

  it("is refused for good when its namespace is being deleted", async () => {
    const run = await newShoot();
    await kube.remove(refTo(Namespace, { name: run.technicalID }));
    const failure = await components().deploy(run, "kube-apiserver-service", "apiServerService").catch(toFailure);
    expect(failure).toMatchObject({
      nonRetryable: true,
      message: expect.stringMatching(/cannot apply .*is being terminated/),
    });
  });

  it("names what is missing in the garden, for the user to mend", async () => {
    const run = await newShoot({ cloudProfile: { kind: "CloudProfile", name: "nowhere" } });
    const failure = await components().deploy(run, "namespace", "namespace").catch(toFailure);
    expect(failure).toMatchObject({
      nonRetryable: true,
      message: "CloudProfile nowhere does not exist: spec.cloudProfile has to name one that does",
      details: [{ codes: ["ERR_CONFIGURATION_PROBLEM"] }],
    });
  });

  it("says which version of a workload it waits for", async () => {
    const run = await newShoot();
    const [first] = await components().deploy(run, "kube-apiserver-service", "apiServerService");
    expect(first).toMatchObject({ until: "addressed", kind: "Service", deadline: 600_000 });
    const [workload] = await components().deploy(run, "kube-controller-manager", "kubeControllerManager");
    expect(workload).toMatchObject({ until: "rolledOut", generation: 1 });
  });

  it("gives a control plane a zone, and leaves it there when its Seed gets more of them", async () => {
    const run = await newShoot();
    const zones = async () =>
      (await kube.read(Namespace, { name: run.technicalID }))?.metadata.annotations?.[ZONES_ANNOTATION];
    const offer = (offered: string[]) =>
      kube.patch(refTo(Seed, { name: "seed-1" }), { spec: { provider: { zones: offered } } });
    await components().deploy(run, "namespace", "namespace");
    expect(await zones()).toBe("0");
    await offer(["1", "2", "3", "4", "5", "6", "0"]);
    await components().deploy(run, "namespace", "namespace");
    expect(await zones()).toBe("0");
    await offer(["1"]);
    await components().deploy(run, "namespace", "namespace");
    expect(await zones()).toBe("1");
    await offer(["0"]);
  });

  it("applies a namespace and its Cluster first, and then all that goes into it at the same time", async () => {
    const flight = inFlight(kube, "apply");
    await components(flight.client).deploy(await newShoot(), "namespace", "namespace");
    const begun = flight.begun();
    expect(begun.slice(0, 2).map(({ kind }) => kind)).toEqual(["Namespace", "Cluster"]);
    expect(begun[2]).toEqual({ kind: "NetworkPolicy", alone: true });
    expect(flight.most()).toBe(begun.length - 2);
  });
});
