import type { Member } from "./answers.ts";
import { insist, type Found } from "./insist.ts";
import type { Scope } from "./scope.ts";
import { nameOf } from "./status.ts";

/**
 * The member of this name, if it is dead: it has started once, and answers at none of its client URLs for longer than a restart
 * takes. Nothing where there is no such member, or where it answers.
 */
export async function findStale(scope: Scope, name: string): Promise<Member | undefined> {
  const { change, silence } = scope.timeouts;
  let since: number | undefined;
  const task = { what: `find out whether member ${name} is dead`, within: Math.max(change, 2 * silence) };
  return await insist(task, scope, async (): Promise<Found<Member | undefined>> => {
    const member = (await scope.list()).find((one) => one.name === name);
    if (member === undefined) return { done: undefined };
    since ??= performance.now();
    const status = await scope.ask(member);
    if (status.answers) return { done: undefined };
    if (performance.now() - since >= silence) return { done: member };
    return { waitsFor: `${nameOf(member)} does not answer: ${status.reason}` };
  });
}
