/**
 * How many letters have to be added, dropped or exchanged to make one word of another (Levenshtein); anything above `most` where it
 * is more than that, which is found out sooner.
 */
export function editDistance(a: string, b: string, most = Infinity): number {
  const [letters, others] = [[...a], [...b]];
  if (Math.abs(letters.length - others.length) > most) return most + 1;
  let row = others.map((_, index) => index + 1);
  for (const [i, letter] of letters.entries()) {
    let [corner, left, least] = [i, i + 1, i + 1];
    row = row.map((above, j) => {
      left = Math.min(corner + (letter === others[j] ? 0 : 1), above + 1, left + 1);
      corner = above;
      least = Math.min(least, left);
      return left;
    });
    if (least > most) return most + 1;
  }
  return row.at(-1) ?? letters.length;
}
