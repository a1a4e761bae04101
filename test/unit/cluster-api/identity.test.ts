import { expect, test } from "vitest";
import { CONTROL_PLANE_ID_LABEL } from "../../../src/api/labels.ts";
import type { Composed } from "../../../src/cluster-api/shoot/compose.ts";
import { bearsId, isOwn } from "../../../src/cluster-api/shoot/identity.ts";
import { createShootWriter } from "../../../src/cluster-api/shoot/write.ts";
import { controlPlaneOf, shootOf } from "../../support/cluster-api-objects.ts";
import { keepObjects } from "../../support/kept-objects.ts";

const without = (labels?: Record<string, string>) => {
  const shoot = shootOf("one");
  const { labels: _, ...metadata } = shoot.metadata;
  return { ...shoot, metadata: { ...metadata, ...(labels && { labels }) } };
};

test.each([undefined, { [CONTROL_PLANE_ID_LABEL]: "" }])(
  "a control plane without an id owns no Shoot, and so none with labels %j",
  async (labels) => {
    const shoot = without(labels);
    const { metadata, ...controlPlane } = controlPlaneOf("one");
    const { uid: _, ...anonymous } = metadata;
    expect(isOwn(shoot, { ...controlPlane, metadata: { ...anonymous, ...(labels && { labels }) } })).toBe(false);
    expect(bearsId(shoot, undefined)).toBe(false);
    const composed = { ...shoot } as unknown as Composed;
    const { client, objects } = keepObjects(shoot);
    const written = await createShootWriter(client).write(composed, shoot, { adopts: false });
    expect(written).toMatchObject({ obstacle: { reason: "ShootTaken" } });
    expect([...objects.values()]).toEqual([shoot]);
  },
);
