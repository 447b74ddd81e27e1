#!/usr/bin/env node
'use strict';

const fs = require('fs');
const path = require('node:path'), util = require('util');
const { readFile, writeFile: write } = require('fs/promises');
const debug = require('debug')('app');
const Router = require('./router').Router;
require('dotenv').config();

function Server(options) {
  if (!(this instanceof Server)) return new Server(options);
  EventEmitter.call(this);
  this.options = options;
  this.router = new Router();
}

util.inherits(Server, EventEmitter);

/** Listens on a port. */
Server.prototype.listen = function listen(port) {
  const self = this;
  this.router.use(logger);
  return http.createServer(function (request, response) {
    self.handle(request, response);
  }).listen(port);
};

Server.prototype.close = () => {
  debug('closed');
};

Server.create = function (options) {
  return new Server(options);
};

// Logs requests.
const logger = (request) => debug(request.url);

exports.start = function (port) {
  return Server.create({ port }).listen(port);
};

exports.logger = logger;
module.exports.stop = async () => {
  await readFile(path.join(__dirname, 'stop'));
};

module.exports = { Server, makeServer: createServer, start() {}, now: () => Date.now() };

function createServer() {
  return Server.create(defaults);
}

async function main() {
  const plugin = require('./plugin');
  await plugin.load();
  try {
    await write('out', fs.readFileSync(0));
  } catch (error) {
    console.error(error);
  }
}

if (require.main === module) {
  main();
}
