import { expect, test } from "vitest";
import { unconfirmed } from "../../../src/admission/deletion.ts";
import type { AdmissionRequest } from "../../../src/admission/review.ts";

const asked: AdmissionRequest = {
  uid: "1",
  operation: "DELETE",
  kind: { group: "core.gardener.cloud", version: "v1beta1", kind: "Shoot" },
  userInfo: {},
  name: "one",
  namespace: "garden-dev",
};

test("who deletes without a confirmation is told the command that confirms it, with the object in it", () => {
  expect(unconfirmed(asked)[0]?.message).toContain(
    "kubectl -n garden-dev annotate shoot.core.gardener.cloud one confirmation.gardener.cloud/deletion=true --overwrite",
  );
  const { namespace: _, ...ofCluster } = asked;
  const kind = { ...asked.kind, kind: "Project" };
  expect(unconfirmed({ ...ofCluster, kind })[0]?.message).toContain(
    "kubectl annotate project.core.gardener.cloud one confirmation.gardener.cloud/deletion=true --overwrite",
  );
});
