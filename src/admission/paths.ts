/** Where the admission server answers which requests. */
export const paths = {
  defaultShoots: "/default/shoots",
  shoots: "/validate/shoots",
  seeds: "/validate/seeds",
  controllerRegistrations: "/validate/controllerregistrations",
  credentials: "/validate/credentials",
  confirmDeletion: "/confirm-deletion",
} as const;
