import type { LeaderLookup } from "../../src/dns/index.ts";

/** A look-up that asks all servers once: its process is killed before the second time. */
export function cutOff({ ask, askAll }: LeaderLookup): LeaderLookup {
  let asked = 0;
  return {
    ask,
    askAll: async (record) => {
      if ((asked += 1) > 1) throw new Error("killed");
      return await askAll(record);
    },
  };
}
