import { once } from "node:events";
import { Agent, request } from "node:https";
import { connect as connectTcp } from "node:net";
import { connect, type TLSSocket } from "node:tls";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  createWebhookServer,
  judge,
  makeServingCertificate,
  type WebhookServer,
} from "../../../src/admission/index.ts";
import { MOST_WAITING } from "../../../src/admission/server.ts";
import { createLogger } from "../../../src/log.ts";
import { eventually } from "../../support/eventually.ts";

let server: WebhookServer;
let port: number;
let ca: string;

beforeAll(async () => {
  const { caBundle, ...tls } = await makeServingCertificate(["127.0.0.1"]);
  ca = caBundle;
  const log = createLogger({ name: "admission", level: "silent" });
  const webhooks = {
    "/refuse": async () => judge([{ field: "spec.a", message: "is odd: choose another" }]),
    "/break": async () => Promise.reject(new Error("the garden is away")),
  };
  server = createWebhookServer({ host: "127.0.0.1", port: 0, tls, log, webhooks });
  port = await server.start();
});

afterAll(() => server.stop());

test("a refusal names the object, the field and the remedy", async () => {
  const { status, body } = await post("/refuse", review);
  expect(status).toBe(200);
  expect(JSON.parse(body)).toMatchObject({
    kind: "AdmissionReview",
    response: {
      uid: "1",
      allowed: false,
      status: { code: 422, message: "cannot create Shoot dev/a: spec.a: is odd: choose another" },
    },
  });
});

test("a request that cannot be judged is neither allowed nor refused", async () => {
  expect(await post("/break", review)).toEqual({ status: 500, body: "the garden is away" });
});

test("a body that is no admission request is answered as such", async () => {
  expect((await post("/nowhere", review)).status).toBe(404);
  expect((await post("/refuse", "{}")).status).toBe(400);
  expect((await post("/refuse", "x".repeat(9 * 1024 * 1024))).status).toBe(413);
});

test("a body that is too large is answered, and so is the next request", async () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const statuses: number[] = [];
  for (let n = 0; n < 20; n += 1)
    statuses.push(
      (await post("/refuse", "x".repeat((n % 2 === 0 ? 4 : 12) * 1024 * 1024), { port, ca, agent })).status,
    );
  agent.destroy();
  expect(new Set(statuses)).toEqual(new Set([413]));
});

test("a request with too many values is refused before it is parsed, and says so", async () => {
  const values = Array.from({ length: 70_000 }, () => "1").join();
  const uid = "4b5f2f8e-3f0e-4a4c-9d53-0e8a1d3a5f10";
  const large = `{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{"uid":"${uid}","object":[${values}]}}`;
  const { status, body } = await post("/break", large);
  expect(status).toBe(200);
  expect(JSON.parse(body)).toMatchObject({
    response: {
      uid,
      allowed: false,
      status: { code: 413, message: expect.stringContaining("more than the 20000 values") as string },
    },
  });
  expect((await post("/break", `[${values}]`)).status).toBe(413);
  expect((await post("/break", large.replace(uid, "no uid"))).status).toBe(413);
});

test("large requests are judged one after the other, and a small one is answered while they wait", async () => {
  const { caBundle, ...tls } = await makeServingCertificate(["127.0.0.1"]);
  const first = Promise.withResolvers<void>();
  const may = Promise.withResolvers<void>();
  const judging = new Set<string>();
  let most = 0;
  const turns = createWebhookServer({
    ...{ host: "127.0.0.1", port: 0, tls, log: createLogger({ name: "admission", level: "silent" }) },
    webhooks: {
      "/judge": async ({ name = "" }) => {
        if (name === "a") return judge([]);
        judging.add(name);
        most = Math.max(most, judging.size);
        first.resolve();
        await may.promise;
        judging.delete(name);
        return name === "large-3" ? await Promise.reject(new Error("the garden is away")) : judge([]);
      },
    },
  });
  const to = { port: await turns.start(), ca: caBundle };
  const text = "x".repeat(256 * 1024);
  const answers = Array.from({ length: 10 }, (_, n) => {
    const { request, ...rest } = JSON.parse(review) as { request: object };
    return post(
      "/judge",
      JSON.stringify({ ...rest, request: { ...request, name: `large-${n}`, object: { text } } }),
      to,
    );
  });
  await first.promise;
  expect((await post("/judge", review, to)).status).toBe(200);
  may.resolve();
  const statuses = (await Promise.all(answers)).map(({ status }) => status);
  expect(statuses).toEqual(statuses.map((_, n) => (n === 3 ? 500 : 200)));
  expect(most).toBe(1);
  await turns.stop();
});

/** A request of the largest size that begins and does not go on. */
const beginLarge = (to: { port: number; ca: string }) => {
  const sent = request({ host: "127.0.0.1", agent: false, ...to, path: "/refuse", method: "POST" });
  sent.setHeader("content-length", 3.5 * 1024 * 1024);
  sent.on("error", () => undefined).flushHeaders();
  return sent;
};

test("large requests that are too many together are refused for a time, and others answered meanwhile", async () => {
  const begun = Array.from({ length: 18 }, () => beginLarge({ port, ca }));
  const large = () => post("/refuse", JSON.stringify({ ...reviewed, extra: "x".repeat(3 * 1024 * 1024) }));
  await eventually(async () => expect((await large()).status).toBe(429));
  expect(await large()).toMatchObject({
    retryAfter: "1",
    body: expect.stringMatching(/that are not judged yet have 67108864 bytes together.*: try again/) as string,
  });
  expect((await post("/refuse", review)).status).toBe(200);
  expect((await post("/refuse", JSON.stringify({ ...reviewed, extra: "x".repeat(300_000) }))).status).toBe(200);
  for (const one of begun) one.destroy();
  await eventually(async () => expect((await large()).status).toBe(200));
});

test("a large request whose caller has gone is not judged", async () => {
  const { caBundle, ...tls } = await makeServingCertificate(["127.0.0.1"]);
  const first = Promise.withResolvers<void>();
  const may = Promise.withResolvers<void>();
  const judged: string[] = [];
  const turns = createWebhookServer({
    ...{ host: "127.0.0.1", port: 0, tls, log: createLogger({ name: "admission", level: "silent" }) },
    webhooks: {
      "/judge": async ({ name = "" }) => {
        judged.push(name);
        first.resolve();
        await may.promise;
        return judge([]);
      },
    },
  });
  const to = { port: await turns.start(), ca: caBundle };
  const text = "x".repeat(1024 * 1024);
  const body = (name: string) =>
    JSON.stringify({ ...reviewed, request: { ...reviewed.request, name, object: { text } } });
  const one = post("/judge", body("first"), to);
  await first.promise;
  const gone = request({ host: "127.0.0.1", agent: false, ...to, path: "/judge", method: "POST" });
  await new Promise((sent) => gone.on("error", () => undefined).end(body("gone"), () => setTimeout(sent, 200)));
  gone.destroy();
  const last = post("/judge", body("last"), to);
  await new Promise((later) => setTimeout(later, 200));
  may.resolve();
  expect((await one).status).toBe(200);
  expect((await last).status).toBe(200);
  expect(judged).toEqual(["first", "last"]);
  await turns.stop();
});

test("strangers that leave handshakes unfinished do not keep an API server out", async () => {
  const strangers = Array.from({ length: 400 }, () =>
    connectTcp({ host: "127.0.0.1", port }).on("error", () => undefined),
  );
  await Promise.all(strangers.map((socket) => once(socket, "connect")));
  const ended = () => expect(strangers.filter(({ destroyed }) => destroyed)).not.toHaveLength(0);
  await eventually(ended, 5_000); // sooner than an unfinished handshake ends by itself
  expect((await post("/refuse", review)).status).toBe(200);
  for (const socket of strangers) socket.destroy();
});

test("strangers that stay connected are ended, the longest first, and an API server is answered", async () => {
  const idle = async (): Promise<TLSSocket> => {
    const socket = connect({ host: "127.0.0.1", port, ca }).on("error", () => undefined);
    await once(socket, "secureConnect");
    socket.write("GET /nowhere HTTP/1.1\r\nHost: localhost\r\n\r\n");
    await once(socket, "data");
    return socket.resume();
  };
  const strangers: TLSSocket[] = [];
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  for (let n = 0; n < MOST_WAITING + 40; n += 1) {
    strangers.push(await idle());
    if (n % 40 === 0) expect((await post("/refuse", review, { port, ca, agent })).status).toBe(200);
  }
  const open = () => strangers.filter(({ destroyed }) => !destroyed);
  await eventually(() => expect(open().length).toBeLessThan(MOST_WAITING), 5_000);
  expect(open()).toEqual(strangers.slice(-open().length));
  expect((await post("/refuse", review)).status).toBe(200);
  agent.destroy();
  for (const socket of strangers) socket.destroy();
});

test("connections that begin to wait at the same time are ended like those that do so one after the other", async () => {
  const { caBundle, ...tls } = await makeServingCertificate(["127.0.0.1"]);
  const many = MOST_WAITING + 100;
  const all = Promise.withResolvers<void>();
  let asked = 0;
  const slow = createWebhookServer({
    ...{ host: "127.0.0.1", port: 0, tls, log: createLogger({ name: "admission", level: "silent" }) },
    webhooks: {
      "/slow": async () => {
        if ((asked += 1) === many) all.resolve();
        await all.promise;
        return judge([]);
      },
    },
  });
  const to = { host: "127.0.0.1", port: await slow.start(), ca: caBundle };
  const head = `POST /slow HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${Buffer.byteLength(review)}\r\n\r\n`;
  const callers: TLSSocket[] = [];
  for (let n = 0; n < many; n += 1) {
    const socket = connect(to).on("error", () => undefined);
    await once(socket, "secureConnect");
    socket.resume().write(head + review);
    callers.push(socket);
  }
  await all.promise;
  const open = () => callers.filter(({ destroyed }) => !destroyed);
  await eventually(() => expect(open().length).toBeLessThanOrEqual(MOST_WAITING), 5_000);
  for (const socket of callers) socket.destroy();
  await slow.stop();
});

test("a connection whose request is judged is not ended, however many others wait", async () => {
  const { slow, to, asked, judged } = await startSlowServer();
  const answer = post("/slow", review, to);
  await asked.promise;
  const others: TLSSocket[] = [];
  for (let n = 0; n <= MOST_WAITING; n += 1) {
    const socket = connect({ host: "127.0.0.1", ...to }).on("error", () => undefined);
    await once(socket, "secureConnect");
    others.push(socket.resume());
  }
  await eventually(() => expect(others.some(({ destroyed }) => destroyed)).toBe(true), 5_000);
  judged.resolve();
  expect((await answer).status).toBe(200);
  await slow.stop();
});

test("a server that stops answers what was asked, and waits for no connection that an API server has not used yet", async () => {
  const { slow, to, asked, judged } = await startSlowServer();
  const unused = connect({ host: "127.0.0.1", ...to });
  await once(unused, "secureConnect");
  const stranger = connectTcp({ host: "127.0.0.1", port: to.port });
  await once(stranger, "connect");
  const answer = post("/slow", review, to);
  await asked.promise;
  const stopped = slow.stop();
  judged.resolve();
  expect((await answer).status).toBe(200);
  const left = Symbol();
  expect(await Promise.race([stopped, new Promise((late) => setTimeout(() => late(left), 5_000).unref())])).not.toBe(
    left,
  );
  stranger.destroy();
  if (!unused.destroyed) await once(unused.resume(), "close");
});

/** A server whose webhook `/slow` resolves `asked` when it is called, and answers once `judged` is resolved. */
async function startSlowServer() {
  const { caBundle, ...tls } = await makeServingCertificate(["127.0.0.1"]);
  const asked = Promise.withResolvers<void>();
  const judged = Promise.withResolvers<void>();
  const slow = createWebhookServer({
    ...{ host: "127.0.0.1", port: 0, tls, log: createLogger({ name: "admission", level: "silent" }) },
    webhooks: {
      "/slow": async () => {
        asked.resolve();
        await judged.promise;
        return judge([]);
      },
    },
  });
  return { slow, to: { port: await slow.start(), ca: caBundle }, asked, judged };
}

const reviewed = {
  apiVersion: "admission.k8s.io/v1",
  kind: "AdmissionReview",
  request: {
    uid: "1",
    operation: "CREATE",
    kind: { group: "core.gardener.cloud", version: "v1beta1", kind: "Shoot" },
    namespace: "dev",
    name: "a",
    userInfo: { username: "alice" },
    object: {},
    oldObject: null,
  },
};
const review = JSON.stringify(reviewed);

function post(
  path: string,
  body: string,
  to: { port: number; ca: string; agent?: Agent } = { port, ca },
): Promise<{ status: number; body: string; retryAfter?: string | undefined }> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: "127.0.0.1", agent: false, ...to, path, method: "POST" }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      const retryAfter = response.headers["retry-after"];
      response.on("end", () =>
        resolve({
          status: response.statusCode ?? 0,
          body: Buffer.concat(chunks).toString(),
          ...(retryAfter && { retryAfter }),
        }),
      );
    });
    sent.on("error", reject);
    sent.end(body);
  });
}
