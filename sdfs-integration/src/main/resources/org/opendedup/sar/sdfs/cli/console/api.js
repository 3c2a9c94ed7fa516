// Asks the server. The token of the session is in this tab only, and is sent in a header that no other page can make a browser send.

const KEY = "sdfs-console";

let session = JSON.parse(sessionStorage.getItem(KEY) ?? "null");

export class Failure extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

export const user = () => session;

async function post(path, body) {
  let response;
  try {
    response = await fetch(path, {
      method: "POST",
      headers: {
        "Content-Type": "application/json",
        ...(session ? { Authorization: `Bearer ${session.token}` } : {}),
      },
      body: JSON.stringify(body),
      credentials: "omit",
      cache: "no-store",
    });
  } catch {
    throw new Failure(0, "The console does not answer.");
  }
  let answer;
  try {
    answer = await response.json();
  } catch {
    throw new Failure(response.status, "The answer of the console cannot be read.");
  }
  if (!response.ok) {
    throw new Failure(response.status, answer.error ?? `Error ${response.status}`);
  }
  return answer;
}

export async function login(name, password) {
  session = null;
  session = await post("api/login", { user: name, password });
  sessionStorage.setItem(KEY, JSON.stringify(session));
}

export function forget() {
  session = null;
  sessionStorage.removeItem(KEY);
}

export async function logout() {
  try {
    await post("api/logout", {});
  } finally {
    forget();
  }
}

export const volumes = () => post("api/volumes", {});

const nameOf = (bean, type) => `org.opendedup.sar:type=${type},volume=${bean}`;

// Reads attributes of several beans at once. Returns them by type; a bean that the volume does not have is missing.
export async function read(volume, wanted) {
  const types = Object.keys(wanted);
  const requests = types.map((type) => ({
    type: "read",
    mbean: nameOf(volume.bean, type),
    ...(wanted[type] === true ? {} : { attribute: wanted[type] }),
    config: { ignoreErrors: true },
  }));
  const answers = await post(`jolokia/${encodeURIComponent(volume.name)}`, requests);
  const found = {};
  answers.forEach((answer, i) => {
    if (answer.status === 200) {
      found[types[i]] = answer.value;
    }
  });
  return found;
}

async function one(volume, request) {
  const answer = await post(`jolokia/${encodeURIComponent(volume.name)}`, request);
  if (answer.status !== 200) {
    throw new Failure(answer.status, String(answer.error ?? "refused").replace(/^(\S+Exception\s*:\s*)+/, ""));
  }
  return answer.value;
}

export const write = (volume, type, attribute, value) =>
  one(volume, { type: "write", mbean: nameOf(volume.bean, type), attribute, value });

export const call = (volume, type, operation, ...args) =>
  one(volume, { type: "exec", mbean: nameOf(volume.bean, type), operation, arguments: args });
