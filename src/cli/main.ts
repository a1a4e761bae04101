import { createContext } from "./connection.ts";
import { exitCodes } from "./exit.ts";
import { runCli } from "./program.ts";
import { registry } from "./registry.ts";
import { processTerminal } from "./display/terminal.ts";

/** The first Ctrl-C asks the verb to end and to say how to go on; the second ends the process. */
const interruption = new AbortController();
process.on("SIGINT", () => {
  if (interruption.signal.aborted) process.exit(exitCodes.interrupted);
  interruption.abort();
});
process.on("SIGTERM", () => interruption.abort());
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(exitCodes.done); // the reader of the pipe has had enough
  throw error;
});

const { context, close } = createContext({
  terminal: processTerminal(),
  variables: process.env,
  signal: interruption.signal,
});
process.exitCode = await runCli(process.argv.slice(2), registry, context);
await close();
