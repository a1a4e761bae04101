/** A claim on an object of a seed. */
export interface Claim {
  /** Whether the resource manager has been told to apply it. */
  readonly applied: boolean;
  /** Its place in the order in which the API server has taken the claims. */
  readonly version: number;
}

/** What one installation, or what else applies objects, has claimed: by the objects, in words. */
export interface Claims {
  /** Whose they are, in words. */
  readonly owner: string;
  readonly objects: ReadonlyMap<string, Claim>;
}

/**
 * The objects that one claims though they are another's, each with its owner. What is applied already counts first, then what was
 * claimed first. So of any two that have written their claims before they look, not both find themselves free to act.
 */
export function conflictsOf(own: Claims, others: Iterable<Claims>): readonly string[] {
  return [...others].flatMap(({ owner, objects }) => {
    const shared = [...own.objects].filter(([object, claim]) => isBefore(objects.get(object), claim));
    const [first, ...more] = shared.map(([object]) => object);
    if (first === undefined) return [];
    return [`${first}${more.length === 0 ? "" : ` and ${more.length} more`} of ${owner}`];
  });
}

const isBefore = (other: Claim | undefined, claim: Claim): boolean =>
  other !== undefined && (other.applied === claim.applied ? other.version < claim.version : other.applied);

/** The claim that counts where one owner has several on an object: in its Secrets of now and of before. */
export const stronger = (one: Claim | undefined, other: Claim): Claim =>
  one !== undefined && isBefore(one, other) ? one : other;
