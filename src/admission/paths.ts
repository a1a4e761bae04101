/** Where the admission server answers which requests. */
export const paths = {
  defaultShoots: "/default/shoots",
  shoots: "/validate/shoots",
  seeds: "/validate/seeds",
  controllerDeployments: "/validate/controllerdeployments",
  controllerRegistrations: "/validate/controllerregistrations",
  cloudProfiles: "/validate/cloudprofiles",
  namespacedCloudProfiles: "/validate/namespacedcloudprofiles",
  controllerInstallations: "/validate/controllerinstallations",
  backupBuckets: "/validate/backupbuckets",
  defaultBastions: "/default/bastions",
  bastions: "/validate/bastions",
  projectNamespaces: "/validate/namespaces",
  fields: "/validate/fields",
  credentials: "/validate/credentials",
  domainReservations: "/validate/domainreservations",
  confirmDeletion: "/confirm-deletion",
} as const;
