import { expect, test } from "vitest";
import type { ShootControlPlane } from "../../../src/api/cluster-api/index.ts";
import { inTurn } from "../../../src/cluster-api/again.ts";
import { isToBeAsked, whenAgain } from "../../../src/cluster-api/control-plane/again.ts";
import { controlPlaneOf, shootOf } from "../../support/cluster-api-objects.ts";

const shoot = shootOf("one");

/** One that has answered that it runs this version, and wants another or none. */
const running = (version: string, wanted?: string): ShootControlPlane => {
  const { spec, ...kept } = controlPlaneOf("one");
  const { version: _, ...rest } = spec;
  const status = { initialization: { controlPlaneInitialized: true }, versions: [{ version }] };
  return { ...kept, spec: { ...rest, ...(wanted !== undefined && { version: wanted }) }, status };
};

const held = (reason: string) => ({ reason, message: "the API server says no" });

test.each(["Refused", "ShootMissing", "ShootTaken"])(
  "the controller tries a control plane again after about a minute while its obstacle is %s, which no watch tells the end of",
  (reason) => {
    const { requeueAfter = 0 } = whenAgain(controlPlaneOf("one"), { obstacle: held(reason) }) ?? {};
    expect(requeueAfter).toBeGreaterThanOrEqual(54_000);
    expect(requeueAfter).toBeLessThanOrEqual(66_000);
  },
);

test("the controller looks after about a minute whether another Secret has left the kubeconfig's place", () => {
  const seen = { shoot, kubeconfig: "a kubeconfig", version: "v1.34.4" };
  expect(whenAgain(running("v1.34.4"), { ...seen, unkept: held("KubeconfigRefused") })?.requeueAfter).toBeGreaterThan(
    50_000,
  );
  expect(whenAgain(running("v1.34.4"), seen)).toBeUndefined();
});

test.each(["WaitingForInfrastructure", "WaitingForMachinePool", "ShootMoving"])(
  "the controller leaves it to its watches to tell when obstacle %s ends",
  (reason) => expect(whenAgain(controlPlaneOf("one"), { obstacle: held(reason) })).toBeUndefined(),
);

test("the controller asks an API server every five seconds until it runs the Shoot's version", () => {
  const seen = { shoot, kubeconfig: "a kubeconfig", version: "v1.33.0" };
  expect(whenAgain(running("v1.33.0"), seen)).toEqual({ requeueAfter: 5_000 });
  expect(whenAgain(running("v1.34.4"), { ...seen, version: "v1.34.4" })).toBeUndefined();
});

test("the controller does not ask an API server for a version that admission has refused", () => {
  const controlPlane = running("v1.34.4", "v9.9.9");
  expect(isToBeAsked(controlPlane, shoot)).toBe(false);
  const seen = { shoot, kubeconfig: "a kubeconfig", version: "v1.34.4", obstacle: held("Refused") };
  expect(whenAgain(controlPlane, seen)?.requeueAfter).toBeGreaterThan(50_000);
});

test("each work of a turn is done, and the first failure is thrown after the last", async () => {
  const done: string[] = [];
  const work = (name: string, fails: boolean) => () => {
    done.push(name);
    return fails ? Promise.reject(new Error(name)) : Promise.resolve({ requeueAfter: 5 });
  };
  await expect(inTurn([work("a", true), work("b", false), work("c", true)])).rejects.toThrow("a");
  expect(done).toEqual(["a", "b", "c"]);
  expect(await inTurn([work("d", false), async () => undefined, async () => ({ requeueAfter: 3 })])).toEqual({
    requeueAfter: 3,
  });
  expect(await inTurn([async () => undefined])).toBeUndefined();
});
