import { createBuilds } from "../src/client/builds.ts";
import { eventually } from "../test/support/eventually.ts";
import type { TemporalServer } from "../test/support/temporal.ts";

/** Makes a build of the garden's worker current, once it polls: before that, no workflow begins. */
export async function becomesCurrent({ client }: TemporalServer, build: string): Promise<void> {
  const builds = createBuilds(client);
  await eventually(async () => {
    const seen = await builds.read();
    return seen !== undefined && (await builds.makeCurrent(build, seen, "bench"));
  });
}
