use crate::support::check;

#[test]
fn a_test_of_a_macro_has_no_name_that_code_could_call() {
    let test = "int compare(int a, int b) { return a - b; }\n\nTEST(bigint_test, compare) {\n  compare(1, 2);\n}\n";
    check(&[("bigint_test.cc", test)], &["bigint_test.cc:4 bigint_test.compare CALLS bigint_test.cc:compare exact"]);
}

#[test]
fn a_class_that_declares_more_overloads_than_the_file_defines_leaves_open_which_is_meant() {
    let header = "class Comparator {\n public:\n  int Compare(const Slice& a, const Slice& b) const;\n  int Compare(const Key& a, const Key& b) const;\n};\n\ninline int Comparator::Compare(const Key& a, const Key& b) const {\n  return Compare(a.slice(), b.slice());\n}\n";
    check(
        &[("compare.h", header)],
        &[
            "compare.h:8 Comparator.Compare CALLS compare.h:Comparator.Compare ambiguous",
            "compare.h:8 Comparator.Compare CALLS compare.h:Comparator.Compare ambiguous",
            "compare.h:8 Comparator.Compare CALLS compare.h:Comparator.Compare ambiguous",
        ],
    );
}

#[test]
fn defaults_stand_in_the_declaration() {
    let header = "class Log {\n public:\n  void write(int level, int times = 1);\n  void run();\n};\n";
    let source = "#include \"log.h\"\n\nvoid Log::write(int level, int times) {}\nvoid Log::run() {\n  write(1);\n  write(1, 2, 3);\n}\n";
    check(&[("log.h", header), ("log.cc", source)], &["log.cc:5 Log.run CALLS log.cc:Log.write exact"]);
}

#[test]
fn two_colons_name_the_global_namespace() {
    let posix = "int close_file(int fd) { return fd; }\n\nnamespace wrapped {\nint close_file(int fd) {\n  return ::close_file(fd);\n}\n}\n";
    check(&[("posix.cc", posix)], &["posix.cc:5 wrapped.close_file CALLS posix.cc:close_file heuristic"]);
}
