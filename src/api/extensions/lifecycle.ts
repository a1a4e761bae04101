/** When the flow of an operation asks the controller of an Extension to act: upstream's words, in the order of a flow. */
export const extensionPhases = ["BeforeKubeAPIServer", "AfterKubeAPIServer", "AfterWorker"] as const;

/** One of {@link extensionPhases}. */
export type ExtensionPhase = (typeof extensionPhases)[number];

/** The phase of each operation, as a ControllerRegistration says it; a Restore goes by `reconcile`. */
export interface Lifecycle {
  readonly reconcile: ExtensionPhase;
  readonly delete: Exclude<ExtensionPhase, "AfterWorker">;
  readonly migrate: Exclude<ExtensionPhase, "AfterWorker">;
}

/** An operation that has a phase of its own. */
export type Phased = keyof Lifecycle;

/** An Extension that a Shoot has, and when its controller acts. */
export interface ShootExtension extends Lifecycle {
  readonly type: string;
  /** How long its controller has for a Reconcile or a Restore, in ms; the kind's own deadline where the registration says none. */
  readonly deadline?: number;
}

/** What a registration means that says nothing of the lifecycle (upstream's defaults). */
export const defaultLifecycle: Lifecycle = {
  reconcile: "AfterKubeAPIServer",
  delete: "BeforeKubeAPIServer",
  migrate: "BeforeKubeAPIServer",
};

/** The phase in which an operation acts on the Extension of a type; of one that the Shoot has no more, the default. */
export const phaseOf = (
  extensions: readonly ShootExtension[] | undefined,
  type: string,
  operation: Phased,
): ExtensionPhase => (extensions?.find((one) => one.type === type) ?? defaultLifecycle)[operation];
