import type { Serving } from "../endpoint/probe.ts";
import type { Said } from "../objects/conditions.ts";
import type { Member } from "./members.ts";

/**
 * Condition Serving of a record: whether one of its members answers, and what is wrong with each that does not. Undefined before
 * that is known. Pure.
 */
export function servingSaid(
  members: readonly Member[],
  servingOf: (member: Member) => Serving | undefined,
): Said | undefined {
  if (members.length === 0)
    return said("Unknown", "WaitingForMachines", "no Machine of the control plane has an address yet");
  const heard = members.flatMap((member) => {
    const serving = servingOf(member);
    return serving === undefined ? [] : [{ member, serving }];
  });
  const faults = heard.filter(({ serving }) => serving.status !== "True");
  const words = faults.map(({ member, serving }) => `Machine ${member.name}: ${serving.message}`).join("; ");
  const serving = heard.length - faults.length;
  if (serving > 0) return said("True", serving === members.length ? "AllServe" : "SomeServe", words);
  return heard.length < members.length ? undefined : said("False", "NoneServes", words);
}

const said = (status: Said["status"], reason: string, message: string): Said => ({
  ...{ type: "Serving", status, reason, message },
});
