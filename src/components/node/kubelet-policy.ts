import type { KubeObject } from "../../api/index.ts";

const apiVersion = "admissionregistration.k8s.io/v1";
const metadata = { name: "perennial-kubelet" };

/**
 * Keeps kubelets from writing the range of pod addresses of their Nodes. kube-controller-manager assigns it, and takes a range that a
 * Node has when it is created for assigned: one for all addresses would leave none to others. NodeRestriction allows it.
 */
export function kubeletPolicy(): KubeObject[] {
  return [
    {
      apiVersion,
      kind: "ValidatingAdmissionPolicy",
      metadata,
      spec: {
        failurePolicy: "Fail",
        matchConstraints: {
          resourceRules: [
            {
              apiGroups: [""],
              apiVersions: ["v1"],
              operations: ["CREATE", "UPDATE"],
              resources: ["nodes"],
              scope: "*",
            },
          ],
        },
        matchConditions: [{ name: "kubelet", expression: "'system:nodes' in request.userInfo.groups" }],
        validations: [
          { expression: `${unchanged("podCIDR", "''")} && ${unchanged("podCIDRs", "[]")}`, message: MESSAGE },
        ],
      },
    },
    {
      apiVersion,
      kind: "ValidatingAdmissionPolicyBinding",
      metadata,
      spec: { policyName: metadata.name, validationActions: ["Deny"] },
    },
  ];
}

const MESSAGE =
  "spec.podCIDR: kube-controller-manager assigns the range of pod addresses, and not a kubelet: leave it out";

const unchanged = (field: string, none: string): string =>
  `object.spec.?${field}.orValue(${none}) == (oldObject == null ? ${none} : oldObject.spec.?${field}.orValue(${none}))`;
