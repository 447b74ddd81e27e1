use crate::support::check;

#[test]
fn a_leading_backslash_names_the_global_namespace() {
    let exception = "<?php\nnamespace Acme;\n\nclass BadValue extends \\BadValue\n{\n}\n";
    let functions = "<?php\nnamespace Acme;\n\nfunction curl_start($handle)\n{\n    return \\curl_start($handle);\n}\n\nfunction run()\n{\n    curl_start(1);\n    return \\Acme\\Tools\\Client::make();\n}\n";
    let client =
        "<?php\nnamespace Acme\\Tools;\n\nclass Client\n{\n    public static function make()\n    {\n    }\n}\n";
    check(
        &[("src/BadValue.php", exception), ("src/functions.php", functions), ("src/Tools/Client.php", client)],
        &[
            "src/functions.php:11 run CALLS src/functions.php:curl_start exact",
            "src/functions.php:12 run CALLS src/Tools/Client.php:Client.make import",
        ],
    );
}
