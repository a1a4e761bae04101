/** Hands each sentence on, unless it is the one before it again: waits look often, and have something to say when that changes. */
export function tellNews(tell: (sentence: string) => void): (sentence: string) => void {
  let told: string | undefined;
  return (sentence) => {
    if (sentence !== told) tell((told = sentence));
  };
}
