use cairn_domain::EdgeKind::{Imports, References};

use crate::support::{check, check_kinds};

const RING: (&str, &str) = (
    "src/ring.zig",
    "const std = @import(\"std\");\n\npub const Error = error{Full};\n\npub fn Ring(comptime T: type) type {\n    return struct {\n        items: []T,\n        const Self = @This();\n        pub fn init(items: []T) Self {\n            return Self{ .items = items };\n        }\n        pub fn push(self: *Self, item: T) Error!void {\n            self.grow();\n            clear(item);\n        }\n        fn grow(self: *Self) void {\n            std.debug.assert(self.items.len > 0);\n        }\n        pub const Walker = struct {\n            ring: *Self,\n            pub fn next(walker: *Walker) void {\n                walker.ring.grow();\n            }\n        };\n    };\n}\n\nfn clear(item: anytype) void {\n    _ = item;\n}\n\ntest clear {\n    clear(1);\n}\n",
);

#[test]
fn members_of_structures_and_of_types_with_parameters() {
    check(
        &[RING],
        &[
            "src/ring.zig:10 Ring.init CALLS src/ring.zig:Ring exact",
            "src/ring.zig:13 Ring.push CALLS src/ring.zig:Ring.grow exact",
            "src/ring.zig:14 Ring.push CALLS src/ring.zig:clear exact",
            "src/ring.zig:22 Ring.Walker.next CALLS src/ring.zig:Ring.grow heuristic",
            "src/ring.zig:33 test CALLS src/ring.zig:clear exact",
        ],
    );
}

#[test]
fn files_and_what_constants_take_from_them() {
    let main = "const std = @import(\"std\");\nconst ring = @import(\"ring.zig\");\nconst Counter = @import(\"Counter.zig\");\nconst Bytes = ring.Ring(u8);\npub const open = @import(\"io/file.zig\").open;\n\npub fn main() !void {\n    var bytes: Bytes = Bytes.init(&.{});\n    try bytes.push(1);\n    var counter = Counter.init();\n    counter.add(2);\n    const file = try open(\"a\");\n    hide(file);\n    std.process.exit(0);\n}\n\nfn hide(counter: *Counter) void {\n    counter.add(1);\n    const open_count = 1;\n    _ = open_count;\n}\n";
    let counter = "total: u32 = 0,\n\nconst Counter = @This();\n\npub fn init() Counter {\n    return Counter{};\n}\n\npub fn add(counter: *Counter, count: u32) void {\n    counter.total += count;\n    counter.check();\n}\n\nfn check(counter: *const Counter) void {\n    _ = counter;\n}\n";
    let file = "pub fn open(path: []const u8) !u32 {\n    _ = path;\n    return 1;\n}\n";
    let files = [RING, ("src/main.zig", main), ("src/Counter.zig", counter), ("src/io/file.zig", file)];
    check(
        &files,
        &[
            "src/Counter.zig:11 add CALLS src/Counter.zig:check heuristic",
            "src/main.zig:4 Bytes CALLS src/ring.zig:Ring import",
            "src/main.zig:8 main CALLS src/ring.zig:Ring.init import",
            "src/main.zig:9 main CALLS src/ring.zig:Ring.push heuristic",
            "src/main.zig:10 main CALLS src/Counter.zig:init import",
            "src/main.zig:11 main CALLS src/Counter.zig:add heuristic",
            "src/main.zig:12 main CALLS src/io/file.zig:open import",
            "src/main.zig:13 main CALLS src/main.zig:hide exact",
            "src/main.zig:18 hide CALLS src/Counter.zig:add heuristic",
            "src/ring.zig:10 Ring.init CALLS src/ring.zig:Ring exact",
            "src/ring.zig:13 Ring.push CALLS src/ring.zig:Ring.grow exact",
            "src/ring.zig:14 Ring.push CALLS src/ring.zig:clear exact",
            "src/ring.zig:22 Ring.Walker.next CALLS src/ring.zig:Ring.grow heuristic",
            "src/ring.zig:33 test CALLS src/ring.zig:clear exact",
        ],
    );
    check_kinds(
        &files[1..],
        &[Imports, References],
        &[
            "src/Counter.zig:5 init REFERENCES src/Counter.zig exact",
            "src/Counter.zig:6 init REFERENCES src/Counter.zig exact",
            "src/Counter.zig:9 add REFERENCES src/Counter.zig exact",
            "src/Counter.zig:14 check REFERENCES src/Counter.zig exact",
            "src/main.zig:3 - IMPORTS src/Counter.zig import",
            "src/main.zig:5 - IMPORTS src/io/file.zig import",
            "src/main.zig:5 - IMPORTS src/io/file.zig:open import",
            "src/main.zig:8 main REFERENCES src/main.zig:Bytes exact",
            "src/main.zig:8 main REFERENCES src/main.zig:Bytes exact",
            "src/main.zig:10 main REFERENCES src/Counter.zig import",
            "src/main.zig:17 hide REFERENCES src/Counter.zig import",
        ],
    );
}
