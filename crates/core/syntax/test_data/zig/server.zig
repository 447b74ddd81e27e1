//! Serves lines over TCP: one handler for each command.

const std = @import("std");
const builtin = @import("builtin");
const config = @import("config.zig");
const ring = @import("ring_buffer.zig");
const ByteRing = ring.ByteRing;
pub const Policy = @import("ring_buffer.zig").Policy;
const OtherClock = @import("clock.zig").Clock;
const Token = @import("syntax/token.zig").lexer.Token;
const c = @cImport({
    @cInclude("sys/socket.h");
    @cInclude("netinet/in.h");
});

pub usingnamespace @import("protocol.zig");

const log = std.log.scoped(.server);
const is_debug = builtin.mode == .Debug;
threadlocal var last_error: ?anyerror = null;
pub var num_connections: usize = 0;

extern "c" fn getpid() c_int;
export fn server_version() u32 {
    return 3;
}

/// Answers one request.
const Handler = *const fn (request: *const Request, out: *ByteRing) anyerror!void;
const HandlerTable = std.StringHashMap(Handler);

/// A line that a client sent.
pub const Request = packed struct {
    id: u32,
    flags: Flags = .{},

    pub const Flags = packed struct(u8) { urgent: bool = false, _padding: u7 = 0 };
};

/// What the server tells its owner.
pub const Event = union(enum) {
    connected: std.net.Address,
    request: Request,
    closed,

    pub fn describe(event: Event) []const u8 {
        return switch (event) {
            .connected => |address| formatAddress(address),
            .request => "request",
            .closed => "closed",
        };
    }
};

const Tag = std.meta.Tag(Event);
const Connection = opaque {
    extern fn connection_close(connection: *Connection) void;
};

fn formatAddress(address: std.net.Address) []const u8 {
    var storage: [64]u8 = undefined;
    return std.fmt.bufPrint(&storage, "{}", .{address}) catch "?";
}

/// Mixed into what counts events.
fn Counter(comptime Self: type) type {
    return struct {
        pub fn count(self: *Self) u64 {
            return self.total;
        }
    };
}

pub const Server = struct {
    allocator: std.mem.Allocator,
    options: config.Options,
    handlers: HandlerTable,
    events: std.ArrayListUnmanaged(Event) = .{},
    queue: *ByteRing,
    clock: OtherClock,
    total: u64 = 0,

    pub usingnamespace Counter(Server);

    pub const Error = error{ AddressInUse, Unsupported } || std.mem.Allocator.Error;
    var instance: ?*Server = null;

    pub fn init(allocator: std.mem.Allocator, options: config.Options) Error!*Server {
        const server = try allocator.create(Server);
        errdefer allocator.destroy(server);
        const queue = try ByteRing.init(allocator, options.capacity, Policy.fallback);
        server.* = .{
            .allocator = allocator,
            .options = options,
            .handlers = HandlerTable.init(allocator),
            .queue = queue,
            .clock = OtherClock{ .epoch = 0 },
        };
        try server.register("ping", &ping);
        try server.register("stop", Server.stop);
        instance = server;
        return server;
    }

    fn register(self: *Server, name: []const u8, handler: Handler) !void {
        const entry = try self.handlers.getOrPut(name);
        if (entry.found_existing) return error.Unsupported;
        entry.value_ptr.* = handler;
    }

    /// Runs until the last connection is closed.
    pub fn run(self: *Server) !void {
        var buffer: [config.line_bytes]u8 = undefined;
        while (self.nextLine(&buffer)) |line| : (num_connections += 1) {
            const request: Request = try parseRequest(line);
            self.dispatch(request) catch |err| switch (err) {
                error.Unsupported => log.warn("unknown command", .{}),
                else => return err,
            };
        }
        inline for (.{ "a", "b" }, 0..) |name, index| {
            log.debug("{s} {d}", .{ name, index });
        }
        for (self.events.items) |*event| {
            log.info("{s}", .{event.describe()});
        }
    }

    fn dispatch(self: *Server, request: Request) !void {
        const table = self.handlers;
        const handler = table.get("ping") orelse return error.Unsupported;
        try handler(&request, self.queue);
        try self.events.append(self.allocator, Event{ .request = request });
    }

    fn stop(_: *const Request, out: *ByteRing) anyerror!void {
        comptime assertSupported();
        try out.push(0);
        Server.instance = null;
    }

    fn nextLine(self: *Server, buffer: []u8) ?[]const u8 {
        _ = c.recv(0, buffer.ptr, buffer.len, 0);
        return if (self.total > 0) buffer[0..1] else null;
    }
};

fn ping(request: *const Request, out: *ByteRing) anyerror!void {
    try out.push(@truncate(request.id));
}

fn parseRequest(line: []const u8) !Request {
    const first: Token = Token.scan(line);
    return Request{ .id = first.number };
}

fn assertSupported() void {
    if (is_debug and @sizeOf(Request) != 8) @compileError("layout");
}

comptime {
    assertSupported();
}
