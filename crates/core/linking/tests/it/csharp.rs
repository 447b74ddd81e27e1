use crate::support::check;

#[test]
fn inner_namespaces_see_the_outer_ones() {
    let log = "namespace Acme.Logging;\n\npublic class Log\n{\n    public static void Write(string text) { }\n}\n";
    let sink = "namespace Acme.Logging.Sinks.Files;\n\npublic class Sink\n{\n    void Run() { Log.Write(\"a\"); }\n    bool Same(object other) { return Same(this, other); }\n}\n";
    check(
        &[("Log.cs", log), ("Sinks/Files/Sink.cs", sink)],
        &["Sinks/Files/Sink.cs:5 Sink.Run CALLS Log.cs:Log.Write exact"],
    );
}

#[test]
fn constructors_name_their_base() {
    let shape = "namespace Acme;\n\nclass Shape\n{\n    public Shape(string name) { }\n}\nclass Dot : Shape\n{\n    public Dot() : base(\"dot\") { }\n}\n";
    check(
        &[("Shape.cs", shape)],
        &["Shape.cs:7 Dot EXTENDS Shape.cs:Shape exact", "Shape.cs:9 Dot.Dot CALLS Shape.cs:Shape.Shape exact"],
    );
}
