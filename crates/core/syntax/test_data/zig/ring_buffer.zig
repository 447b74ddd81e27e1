//! A fixed-size ring of values, and a pool of such rings.
//!
//! Not safe for several threads at once.

const std = @import("std");
const assert = std.debug.assert;
const Allocator = std.mem.Allocator;
const Clock = @import("clock.zig").Clock;
const metrics = @import("metrics/root.zig");

/// What can go wrong with a ring.
pub const RingError = error{
    /// No place is left.
    Full,
    Empty,
};

const PoolError = error{Exhausted} || RingError || Allocator.Error;

pub const default_capacity: usize = 64;
const max_rings = 1 << 10;
var num_rings: u32 = 0;

/// How a full ring treats what comes in.
pub const Policy = enum(u8) {
    reject,
    overwrite = 2,

    pub const fallback = Policy.reject;

    /// Whether values may be lost.
    pub fn isLossy(self: Policy) bool {
        return self == .overwrite;
    }
};

/// A ring of values of one type.
pub fn Ring(comptime T: type) type {
    return struct {
        items: []T,
        head: usize = 0,
        len: usize = 0,
        policy: Policy,
        clock: ?*const Clock = null,

        const Self = @This();
        pub const Item = T;

        /// Allocates the places at once.
        pub fn init(allocator: Allocator, capacity: usize, policy: Policy) PoolError!Self {
            const items = try allocator.alloc(T, capacity);
            num_rings += 1;
            return Self{ .items = items, .policy = policy };
        }

        pub fn deinit(self: *Self, allocator: Allocator) void {
            allocator.free(self.items);
            self.* = undefined;
        }

        pub fn push(self: *Self, item: T) RingError!void {
            if (self.isFull()) {
                if (!self.policy.isLossy()) return error.Full;
                _ = self.pop() catch unreachable;
            }
            self.items[self.slot(self.len)] = item;
            self.len += 1;
            if (self.clock) |clock| metrics.record(clock.now(), self.len);
        }

        pub fn pop(self: *Self) RingError!T {
            if (self.len == 0) return RingError.Empty;
            defer self.head = self.slot(1);
            self.len -= 1;
            return self.items[self.head];
        }

        inline fn isFull(self: *const Self) bool {
            return self.len == self.items.len;
        }

        fn slot(self: *const Self, offset: usize) usize {
            assert(offset <= self.items.len);
            return wrap(self.head + offset, self.items.len);
        }

        pub fn iterator(self: *const Self) Iterator {
            return .{ .ring = self };
        }

        /// Walks from the oldest value to the newest.
        pub const Iterator = struct {
            ring: *const Self,
            index: usize = 0,

            pub fn next(it: *Iterator) ?T {
                if (it.index == it.ring.len) return null;
                defer it.index += 1;
                return it.ring.items[it.ring.slot(it.index)];
            }
        };
    };
}

fn wrap(position: usize, size: usize) usize {
    return if (position >= size) position - size else position;
}

pub const ByteRing = Ring(u8);

test "what is pushed first is popped first" {
    var ring = try ByteRing.init(std.testing.allocator, 2, .reject);
    defer ring.deinit(std.testing.allocator);
    try ring.push('a');
    try ring.push('b');
    try std.testing.expectError(error.Full, ring.push('c'));
    try std.testing.expectEqual(@as(u8, 'a'), try ring.pop());
}

test wrap {
    try std.testing.expectEqual(@as(usize, 1), wrap(5, 4));
}
