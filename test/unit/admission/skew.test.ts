import { expect, test } from "vitest";
import { ruleCauses } from "../../../src/admission/shoot/rules.ts";
import { skewCauses } from "../../../src/admission/shoot/skew.ts";
import { withChange } from "../../support/changed-shoots/case.ts";
import { exampleShoot } from "../../support/control-plane-context.ts";

const field = "spec.provider.workers[0].kubernetes.version";

const shootWith = (apiServer: string, kubelet: string | undefined) =>
  withChange(exampleShoot(), {
    "spec.kubernetes.version": apiServer,
    "spec.provider.workers[0].kubernetes": { version: kubelet },
  });

test.each([
  ["1.34.4", "1.34.4"],
  ["1.34.4", "1.34.0"],
  ["1.34.4", "1.31.9"],
  ["1.34.4", undefined],
])("an API server of %s takes kubelets of %s", (apiServer, kubelet) => {
  expect(skewCauses(shootWith(apiServer, kubelet))).toEqual([]);
});

test.each([
  ["1.34.4", "1.35.0"],
  ["1.34.4", "1.34.5"],
  ["1.34.4", "1.30.9"],
])("an API server of %s takes no kubelets of %s", (apiServer, kubelet) => {
  const message = `${kubelet} must be at most three minor versions behind ${apiServer}, and not ahead of it`;
  expect(skewCauses(shootWith(apiServer, kubelet))).toEqual([{ field, message }]);
});

test("the skew of kubelets is a rule of every Shoot, without a profile, also when its control plane goes on without them", () => {
  expect(ruleCauses({ shoot: shootWith("1.34.4", "1.34"), old: undefined })).toEqual([
    { field, message: "must be a full version, such as 1.34.4" },
  ]);
  const [old, shoot] = [shootWith("1.33.0", "1.30.0"), shootWith("1.34.4", "1.30.0")];
  expect(ruleCauses({ shoot, old })).toEqual([
    { field, message: "1.30.0 must be at most three minor versions behind 1.34.4, and not ahead of it" },
  ]);
});
