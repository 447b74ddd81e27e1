#!/usr/bin/env lua
-- A router for requests, as web servers in Lua have it.

require "compat"

local http = require "socket.http"
local stack = require("router.stack")
local middlewares = {}
local insert, concat = table.insert, table.concat

local M = {
  version = "2.1.0",
  --- Called where no route fits.
  not_found = function(request)
    return M.respond(request, 404)
  end,
}

M._VERSION = "router 2.1"
M.METHODS = { "GET", "POST" }
M.codec = {}

default_timeout = 30
http.TIMEOUT = default_timeout

-- Splits a path into its parts.
local function split(path) -- at slashes
  local parts = {}
  for part in path:gmatch("[^/]+") do
    insert(parts, part)
  end
  return parts
end

local walk
walk = function(node, parts, index)
  local child = node[parts[index]]
  if child then
    return walk(child, parts, index + 1)
  end
  return node.handler
end

local join = function(parts)
  return concat(parts, "/")
end

--- Adds a route.
-- @tparam string method one of `METHODS`
-- @tparam string path parts between slashes
-- @param handler called with the request
function M.add(method, path, handler)
  local node = stack.push(method, split(path))
  node.handler = handler or M.not_found
  for _, middleware in ipairs(middlewares) do
    node.handler = middleware(node.handler)
  end
end

function M.use(middleware) -- of all routes
  insert(middlewares, middleware)
  return M
end

function M.codec.encode(value, indent)
  local encode = M.codec.encode
  if type(value) == "table" then
    return join(stack.map(value, function(item) return encode(item, indent) end))
  end
  return tostring(value)
end

function M.respond(request, status)
  local body = M.codec.encode({ status = status })
  request.socket:send(body)
  return status, body
end

--- Finds the handler of a request and calls it.
function M.dispatch(request)
  local parts = split(request.path)
  local ok, result = pcall(walk, stack.root, parts, 1)
  if not ok then
    log_error(result, debug.traceback())
    return M.respond(request, 500)
  end
  return result and result(request) or M.not_found(request)
end

-- Written by the whole program.
function log_error(message, trace)
  io.stderr:write(join({ message, trace }), "\n")
end

local function make_counter(start)
  local Counter = {}
  Counter.__index = Counter
  function Counter:next()
    self.count = (self.count or start) + 1
    return self.count
  end
  local function reset(counter)
    counter.count = start
  end
  return setmetatable({ reset = reset }, Counter)
end

-- A view of a node that cannot be written to.
local function frozen(node)
  local view = {}
  setmetatable(view, { __index = M.codec, __newindex = error })
  return setmetatable({ node = node }, { __index = M })
end

M.counter = make_counter(0)
M.serve = function(port)
  local server = assert(http.bind("*", port))
  repeat
    local client = server:accept()
    M.dispatch(stack.read(client))
  until not client
end

return M
