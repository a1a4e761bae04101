/** A requirement on one label, as in Kubernetes' `matchExpressions`. */
export interface LabelExpression {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[] | undefined;
}

/** A label selector of Kubernetes. */
export interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly LabelExpression[];
}

/** Whether a selector selects what has these labels; without one, everything is selected. */
export function selectsLabels(selector: LabelSelector | undefined, labels: Readonly<Record<string, string>>): boolean {
  const { matchLabels = {}, matchExpressions = [] } = selector ?? {};
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every((expression) => holds(expression, labels[expression.key]))
  );
}

/** Whether a label's value fulfils a requirement, as Kubernetes reads it; what it does not know selects nothing. */
export function holds({ operator, values = [] }: LabelExpression, value: string | undefined): boolean {
  if (operator === "In") return value !== undefined && values.includes(value);
  if (operator === "NotIn") return value === undefined || !values.includes(value);
  if (operator === "Exists") return value !== undefined;
  return operator === "DoesNotExist" && value === undefined;
}
