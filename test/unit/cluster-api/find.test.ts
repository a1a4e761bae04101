import { expect, test } from "vitest";
import type { ShootControlPlane } from "../../../src/api/cluster-api/index.ts";
import type { Shoot } from "../../../src/api/index.ts";
import { CONTROL_PLANE_ID_LABEL } from "../../../src/api/labels.ts";
import { findOwnShoot } from "../../../src/cluster-api/control-plane/find.ts";
import type { KubeClient } from "../../../src/kube/index.ts";
import { controlPlaneOf, shootOf } from "../../support/cluster-api-objects.ts";
import { keepObjects } from "../../support/kept-objects.ts";

const place = { namespace: "garden-dev", cluster: "mine" };

const shoot = (name: string, id = "my-id"): Shoot => ({
  ...shootOf(name),
  metadata: { namespace: "garden-dev", name, uid: name, labels: { [CONTROL_PLANE_ID_LABEL]: id } },
});

function controlPlane(reported?: string): ShootControlPlane {
  const { metadata, ...own } = controlPlaneOf("mine");
  const labelled = { ...metadata, uid: "u", labels: { [CONTROL_PLANE_ID_LABEL]: "my-id" } };
  const status = { shoot: { namespace: "garden-dev", name: reported ?? "" } };
  return { ...own, metadata: labelled, ...(reported !== undefined && { status }) };
}

/** The Shoot's name, found in a garden whose Shoots are never listed whole: a user may have copied a large one. */
async function found(of: ShootControlPlane, ...shoots: Shoot[]): Promise<string | undefined> {
  const { client } = keepObjects(...shoots);
  const garden: KubeClient = { ...client, list: () => Promise.reject(new Error("whole Shoots are listed")) };
  return (await findOwnShoot(garden, of, place))?.metadata.name;
}

test("of copies of its Shoot, a control plane takes the one that it reports, else the one under its own name", async () => {
  const copies = ["mine", "copy", "other"].map((name) => shoot(name));
  expect(await found(controlPlane("copy"), ...copies)).toBe("copy");
  expect(await found(controlPlane(), ...copies)).toBe("mine");
  expect(await found(controlPlane(), ...copies.slice(1))).toBeUndefined();
  expect(await found(controlPlane("gone"), ...copies)).toBeUndefined();
});

test("a Shoot under another name is a control plane's only where it is the only one with its id", async () => {
  expect(await found(controlPlane(), shoot("adopted"))).toBe("adopted");
  expect(await found(controlPlane(), shoot("mine", "their-id"))).toBeUndefined();
});
