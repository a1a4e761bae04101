/**
 * How much a quantity is, in billionths, which no sum or product of them rounds: `500m` is 500,000,000. Undefined for what is
 * no quantity.
 */
export function nanosOf(quantity: string | number): bigint | undefined {
  const text = String(quantity);
  const [, whole = "", fraction = "", suffix = ""] =
    /^([0-9]*)(?:\.([0-9]*))?((?:[KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]{1,2})?)$/.exec(text) ?? [];
  if (whole + fraction === "") return undefined;
  const digits = BigInt(`${whole}${fraction}`);
  const binary = binarySuffixes.indexOf(suffix);
  if (binary >= 0) return (digits * 1024n ** BigInt(binary + 1) * nano) / 10n ** BigInt(fraction.length);
  const exponent = (decimalSuffixes[suffix] ?? Number(suffix.slice(1))) + 9 - fraction.length;
  return exponent >= 0 ? digits * 10n ** BigInt(exponent) : digits / 10n ** BigInt(-exponent);
}

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
