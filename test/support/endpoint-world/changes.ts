import fc from "fast-check";

/** A change by others than the endpoint controller, in a management cluster with one Cluster and its provider's two objects. */
export type Change = typeof changes extends fc.Arbitrary<infer C> ? C : never;

/** What is done at once: a change, then a pass of the controller, which may see less than there is, and be met by a change itself. */
export interface Step {
  readonly change: Change;
  /** Whether the core manager acts before that pass. */
  readonly coreFirst: boolean;
  /** What of the change the controller's watches have brought by then. */
  readonly seen: { readonly cluster: boolean; readonly endpoints: boolean };
  /** Happens right before one of the pass's calls. */
  readonly meanwhile: { readonly call: number; readonly change: Change } | undefined;
  /** Whether all comes to rest after it. */
  readonly rests: boolean;
}

const hosts = fc.constantFrom("a.example.com", "b.example.com", "10.0.0.1", "2001:db8::1");
const values = fc.record({ host: hosts, port: fc.constantFrom(443, 6443) });
const names = fc.constantFrom("x", "y", "foo");
/** `foo` is what the controller generates: an edit of it is rare luck otherwise, and faults in its handling stay unseen. */
const editedNames = fc.oneof({ arbitrary: fc.constant("foo"), weight: 4 }, names);
const is = <const N extends string>(name: N) => fc.constant(name);

const changes = fc.oneof(
  fc.record({
    is: is("made"),
    name: names,
    value: values,
    owner: fc.constantFrom("infrastructure" as const, "controlPlane" as const, "cluster" as const, undefined),
  }),
  { arbitrary: fc.record({ is: is("edited"), name: editedNames, value: values }), weight: 3 },
  fc.record({ is: is("removed"), name: names }),
  fc.record({ is: is("leaving"), name: names }),
  fc.record({
    is: is("field"),
    provider: fc.constantFrom("infrastructure" as const, "controlPlane" as const),
    value: fc.option(values, { nil: undefined }),
  }),
  fc.record({ is: is("foreign"), value: fc.oneof(values, fc.record({ host: hosts }), fc.constant(undefined)) }),
  fc.record({ is: is("paused"), paused: fc.boolean() }),
  fc.record({ is: is("endpointPaused"), name: names, paused: fc.boolean() }),
  fc.record({ is: is("clusterGone") }),
  fc.record({ is: is("clusterMade"), value: fc.option(values, { nil: undefined }) }),
);

/** Histories of one Cluster. */
export const histories: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.record({
    change: changes,
    coreFirst: fc.boolean(),
    seen: fc.record({ cluster: fc.boolean(), endpoints: fc.boolean() }),
    meanwhile: fc.option(fc.record({ call: fc.nat({ max: 4 }), change: changes }), { nil: undefined, freq: 3 }),
    rests: fc.boolean(),
  }),
  { minLength: 1, maxLength: 10 },
);
