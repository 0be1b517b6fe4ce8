// Sets a new Uptime Kuma up, as its owner does in the browser: an administrator, monitors, a status page, a key for the
// metrics. Reads {url, page, monitors} from stdin, waits until every monitor has had its first look, and prints {key}.
"use strict";
const fs = require("fs");
const { io } = require("socket.io-client");

const { url, page, monitors } = JSON.parse(fs.readFileSync(0, "utf8"));
const socket = io(url, { transports: ["websocket"], reconnection: false });
const seen = new Set();
let looked = () => {};

const ask = (event, ...fields) =>
  new Promise((resolve, reject) => {
    socket.emit(event, ...fields, (reply) => {
      if (reply.ok) {
        resolve(reply);
      } else {
        reject(new Error(`${event}: ${reply.msg}`));
      }
    });
  });

async function setUp() {
  const owner = { username: "owner", password: "a long p4ssword" };
  await ask("setup", owner.username, owner.password);
  await ask("login", { ...owner, token: "" });
  const ids = [];
  for (const monitor of monitors) {
    const fields = {
      interval: 3600,
      retryInterval: 3600,
      resendInterval: 0,
      maxretries: 0,
      timeout: 10,
      method: "GET",
      maxredirects: 0,
      accepted_statuscodes: ["200-399"],
      notificationIDList: {},
      kafkaProducerBrokers: [],
      kafkaProducerSaslOptions: { mechanism: "None" },
      ...monitor,
    };
    ids.push((await ask("add", fields)).monitorID);
  }
  await new Promise((resolve) => {
    looked = () => {
      if (ids.every((id) => seen.has(Number(id)))) {
        resolve();
      }
    };
    looked();
  });
  await ask("addStatusPage", "Home", page);
  const config = { slug: page, title: "Home", theme: "auto", domainNameList: [], showTags: false };
  const groups = [{ name: "All", monitorList: ids.map((id) => ({ id })) }];
  await ask("saveStatusPage", page, config, "/icon.svg", groups);
  const made = await ask("addAPIKey", { name: "metrics", expires: "2099-01-01 00:00:00", active: true });
  process.stdout.write(JSON.stringify({ key: made.key }));
}

socket.on("heartbeat", (beat) => {
  seen.add(Number(beat.monitorID));
  looked();
});
socket.on("connect_error", (error) => {
  console.error(error.message);
  process.exit(1);
});
socket.on("connect", () => {
  setUp().then(
    () => process.exit(0),
    (error) => {
      console.error(error.message);
      process.exit(1);
    },
  );
});
