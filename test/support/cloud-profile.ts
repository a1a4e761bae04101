import { CloudProfile, type Shoot } from "../../src/api/index.ts";

type Offer = Partial<Pick<CloudProfile["spec"], "machineImages" | "machineTypes">> & {
  readonly versions: readonly string[];
};

/** A CloudProfile of a Shoot's provider and region that offers these machines and versions of Kubernetes. */
export const profileFor = ({ spec: { provider, region } }: Shoot, { versions, ...machines }: Offer): CloudProfile =>
  CloudProfile.parse({
    apiVersion: CloudProfile.apiVersion,
    kind: CloudProfile.kind,
    metadata: { name: "local" },
    spec: {
      ...{ type: provider.type, regions: [{ name: region }], machineImages: [], ...machines },
      kubernetes: { versions: versions.map((version) => ({ version })) },
    },
  });
