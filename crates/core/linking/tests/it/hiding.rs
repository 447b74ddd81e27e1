//! Parameters and local variables hide what is called the same elsewhere.

use crate::support::check;

#[test]
fn csharp() {
    let text = "\
class Runner {
  bool Accepts(int x) { return true; }
  void Run(Func<int, bool> Accepts) { Accepts(1); }
  void Each() { foreach (var Accepts in All()) Accepts(1); Other.Map(Accepts => Accepts(2)); }
  void Free() { Accepts(1); }
}
class Store { static void Open() {} void Use() { var Store = Pick(); Store.Open(); } }
class User { void Use() { Store.Open(); } }
";
    check(
        &[("a.cs", text)],
        &["a.cs:5 Runner.Free CALLS a.cs:Runner.Accepts exact", "a.cs:8 User.Use CALLS a.cs:Store.Open exact"],
    );
}

#[test]
fn kotlin() {
    let text = "\
object registry { fun find() {} }
class User {
  fun free() { registry.find() }
  fun local() { val registry = pick(); registry.find() }
  fun parameter(registry: (Int) -> Unit) { registry.find() }
  fun lambda(all: List<Int>) { all.each { registry -> registry.find() } }
}
";
    check(&[("a.kt", text)], &["a.kt:3 User.free CALLS a.kt:registry.find exact"]);
}

#[test]
fn c_and_cpp() {
    let c = "\
int visit(int x) { return x; }
int each(int (*visit)(int)) { return visit(1); }
int local(void) { int (*visit)(int) = pick(); return visit(1); }
int free_one(void) { return visit(1); }
";
    check(&[("a.c", c)], &["a.c:4 free_one CALLS a.c:visit exact"]);
    let cpp = "\
int visit(int x) { return x; }
int byReference(const auto& visit) { return visit(1); }
int byCapture() { return [visit = pick()](int x) { return visit(x); }(1); }
int byLoop() { for (auto&& [key, visit] : table()) visit(key); return 0; }
int freeOne() { return visit(1); }
";
    check(&[("a.cpp", cpp)], &["a.cpp:5 freeOne CALLS a.cpp:visit exact"]);
}
