/**
 * Admission plugins that no Shoot can disable: those that Gardener requires, and those without which credentials of nodes, tokens of
 * ServiceAccounts or admission policies have no force.
 */
export const requiredPlugins: readonly string[] = [
  "CertificateApproval",
  "CertificateSigning",
  "CertificateSubjectRestriction",
  "MutatingAdmissionPolicy",
  "MutatingAdmissionWebhook",
  "NamespaceLifecycle",
  "NodeRestriction",
  "PodSecurity",
  "Priority",
  "ServiceAccount",
  "StorageObjectInUseProtection",
  "ValidatingAdmissionPolicy",
  "ValidatingAdmissionWebhook",
];

/** Admission plugins that no Shoot can enable: kube-apiserver would refuse its own objects and never become ready. */
export const forbiddenPlugins: readonly string[] = ["AlwaysDeny"];
