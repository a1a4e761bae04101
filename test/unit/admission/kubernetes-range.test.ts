import { expect, test } from "vitest";
import { createCloudProfileValidator } from "../../../src/admission/cloud-profile.ts";
import { KNOWN_MINOR } from "../../../src/admission/shoot/kubernetes-names.ts";
import { versionCauses } from "../../../src/admission/shoot/version.ts";
import type { CloudProfile } from "../../../src/api/index.ts";
import { isInRange, WORKING_MINORS } from "../../../src/api/shoot/kubernetes-versions.ts";
import { versions as built } from "../../../src/local/binary/versions.ts";
import { exampleShoot } from "../../support/control-plane-context.ts";
import { exampleObjects } from "../../support/examples.ts";

const example = (await exampleObjects()).find(({ kind }) => kind === "CloudProfile") as CloudProfile;

const profileOf = (...versions: string[]): CloudProfile => ({
  ...example,
  spec: { ...example.spec, kubernetes: { versions: versions.map((version) => ({ version })) } },
});

test.each(["1.20.0", "1.33.9", "1.35.0", "1.40.0", "2.34.0"])(
  "Kubernetes %s is neither offered nor taken",
  async (version) => {
    const profile = profileOf("1.34.4", version);
    const shoot = exampleShoot({ kubernetes: { version } });
    expect(versionCauses({ shoot, now: new Date() }, profile)).toEqual([
      {
        field: "spec.kubernetes.version",
        message: `${version} does not work here: choose a version of Kubernetes 1.34`,
      },
    ]);
    const validate = createCloudProfileValidator({ client: { list: async () => [] } as never });
    const request = { operation: "CREATE", object: profile } as never;
    expect(await validate(request)).toMatchObject({
      causes: [
        { field: "spec.kubernetes.versions[1].version", message: expect.stringContaining("does not work here") },
      ],
    });
  },
);

test("a profile that has offered another version keeps it", async () => {
  const validate = createCloudProfileValidator({ client: { list: async () => [] } as never });
  const request = { operation: "UPDATE", object: profileOf("1.34.4", "1.20.0"), oldObject: profileOf("1.20.0") };
  expect(await validate(request as never)).toMatchObject({ allowed: true });
});

test("the range holds the version that is built and deployed, and no version whose settings are not known", () => {
  expect(isInRange(built.kubernetes, WORKING_MINORS)).toBe(true);
  expect(WORKING_MINORS.newest).toBeLessThanOrEqual(KNOWN_MINOR);
});
