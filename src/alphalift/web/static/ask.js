// What the server is asked: addresses on this page's own server, JSON both ways.

export class Refused extends Error {}

async function answered(response) {
  const content = await response.json().catch(() => ({}));
  if (!response.ok) throw new Refused(content.error || `The server answered ${response.status}.`);
  return content;
}

export async function get(path) {
  return answered(await fetch(`/api/${path}`));
}

export async function post(path, content = {}) {
  const headers = { "content-type": "application/json" };
  return answered(await fetch(`/api/${path}`, { method: "POST", headers, body: JSON.stringify(content) }));
}

export async function upload(file) {
  const headers = { "content-type": "application/octet-stream" };
  const path = `/api/table?name=${encodeURIComponent(file.name)}`;
  return answered(await fetch(path, { method: "POST", headers, body: file }));
}

// Every change of a job until it is over; then its result. `wanted` says whether anybody still waits.
export async function follow(number, changed = () => {}, wanted = () => true) {
  let seen = -1;
  for (;;) {
    const job = await get(`jobs/${number}?seen=${Math.max(seen, 0)}`);
    if (!wanted()) return null;
    if (job.changes !== seen) changed(job);
    seen = job.changes;
    if (job.state === "done") return job.result;
    if (job.state === "failed") throw new Refused(job.error);
    if (job.state === "stopped") return null;
  }
}
