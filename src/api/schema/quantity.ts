/**
 * How much a quantity is, in billionths, which no sum or product of them rounds: `500m` is 500,000,000. What is less than a
 * billionth counts as one, as it does in Go. Undefined for what is no quantity.
 */
export function nanosOf(quantity: string | number): bigint | undefined {
  const text = String(quantity);
  const [, whole = "", fraction = "", suffix = ""] =
    /^([0-9]*)(?:\.([0-9]*))?((?:[KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]+)?)$/.exec(text) ?? [];
  if (whole + fraction === "") return undefined;
  const digits = BigInt(`${whole}${fraction}`);
  const binary = binarySuffixes.indexOf(suffix);
  if (binary >= 0) return divided(digits * 1024n ** BigInt(binary + 1) * nano, fraction.length);
  const exponent = (decimalSuffixes[suffix] ?? bounded(Number(suffix.slice(1)))) + 9 - fraction.length;
  return exponent >= 0 ? digits * 10n ** BigInt(exponent) : divided(digits, -exponent);
}

/** Rounded up. */
function divided(amount: bigint, digits: number): bigint {
  const divisor = 10n ** BigInt(digits);
  return (amount + divisor - 1n) / divisor;
}

/** An exponent beyond which nothing is there to be counted: a text of ten characters could fill the memory otherwise. */
const bounded = (exponent: number): number => Math.max(-LARGEST_EXPONENT, Math.min(LARGEST_EXPONENT, exponent));

const LARGEST_EXPONENT = 99;

/** A quantity for people: in the largest binary unit that it is a whole number of, else as a decimal. */
export function quantityOf(nanos: bigint): string {
  const found = [...binarySuffixes.entries()].reverse().find(([power]) => {
    const unit = 1024n ** BigInt(power + 1) * nano;
    return nanos >= unit && nanos % unit === 0n;
  });
  if (found === undefined) return String(Number(nanos) / 1e9);
  return `${nanos / (1024n ** BigInt(found[0] + 1) * nano)}${found[1]}`;
}

const nano = 1_000_000_000n;

const binarySuffixes = ["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

const decimalSuffixes: Readonly<Record<string, number>> = {
  ...{ "": 0, n: -9, u: -6, m: -3 },
  ...{ k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 },
};
