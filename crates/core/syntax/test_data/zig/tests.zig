const std = @import("std");
const testing = std.testing;
const expect = testing.expect;
const server = @import("server.zig");
const Ring = @import("ring_buffer.zig").Ring;

const Point = struct {
    const origin = Point{ .x = 0, .y = 0 };

    x: i32,
    y: i32,

    fn add(a: Point, b: Point) Point {
        return .{ .x = a.x + b.x, .y = a.y + b.y };
    }

    test "points are added" {
        const sum = Point.add(origin, .{ .x = 1, .y = 2 });
        try expect(sum.x == 1);
    }
};

fn fill(ring: *Ring(Point), points: []const Point) !void {
    for (points) |point| try ring.push(point);
}

fn sumOf(ring: *Ring(Point)) Point {
    var total = Point.origin;
    var points = ring.iterator();
    while (points.next()) |point| {
        total = add(total, point);
    }
    return total;
}

const add = Point.add;

test "a ring of points" {
    const allocator = testing.allocator;
    var ring = try Ring(Point).init(allocator, 3, .overwrite);
    defer ring.deinit(allocator);
    const points = [_]Point{ .{ .x = 1, .y = 1 }, .{ .x = 2, .y = 2 } };
    try fill(&ring, &points);
    const total = sumOf(&ring);
    try expect(total.x == 3 and total.y == 3);
}

test "a server can be made and stopped" {
    const options = server.Options{ .capacity = 4 };
    const instance = try server.Server.init(testing.allocator, options);
    defer instance.allocator.destroy(instance);
    try testing.expectEqual(@as(u64, 0), instance.count());
    const Local = struct {
        fn onEvent(event: server.Event) void {
            _ = event.describe();
        }
    };
    const mode: enum { quiet, loud } = .quiet;
    if (mode == .loud) instance.@"resume"();
    instance.visit(Local.onEvent);
}

test {
    _ = @import("clock.zig");
    testing.refAllDecls(@This());
}
