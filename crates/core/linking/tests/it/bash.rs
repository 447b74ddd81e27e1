use cairn_domain::EdgeKind::{Calls, Imports, References};

use crate::support::check_kinds;

#[test]
fn sourced_files_lend_their_functions() {
    check_kinds(
        &[
            (
                "bin/deploy.sh",
                "#!/bin/bash\nDIR=$(dirname \"$0\")\nsource \"$DIR/../lib/log.sh\"\n. ./steps.sh\nsource /etc/deploy.conf\nsource \"$HOME\"\nmain() {\n  log start\n  build\n  colour red\n  grep x file\n}\nmain \"$@\"\n",
            ),
            ("bin/steps.sh", "build() { log building; }\n"),
            ("lib/log.sh", "source \"$(dirname \"${BASH_SOURCE[0]}\")/colours.sh\"\nlog() { colour \"$1\"; }\n"),
            ("lib/colours.sh", "colour() { :; }\n"),
            ("other/log.sh", "log() { :; }\n"),
        ],
        &[Calls, Imports],
        &[
            "bin/deploy.sh:10 main CALLS lib/colours.sh:colour import",
            "bin/deploy.sh:13 - CALLS bin/deploy.sh:main exact",
            "bin/deploy.sh:3 - IMPORTS lib/log.sh import",
            "bin/deploy.sh:4 - IMPORTS bin/steps.sh import",
            "bin/deploy.sh:8 main CALLS lib/log.sh:log import",
            "bin/deploy.sh:9 main CALLS bin/steps.sh:build import",
            "bin/steps.sh:1 build CALLS lib/log.sh:log ambiguous",
            "bin/steps.sh:1 build CALLS other/log.sh:log ambiguous",
            "lib/log.sh:1 - IMPORTS lib/colours.sh import",
            "lib/log.sh:2 log CALLS lib/colours.sh:colour import",
        ],
    );
}

#[test]
fn variables_are_no_functions() {
    let text = "\
readonly version=1
check() { return 0; }
use() {
  local check=$1
  check \"$check\"
  version
  retry run_all
}
run_all() { :; }
trap run_all EXIT
";
    check_kinds(
        &[("a.sh", text)],
        &[Calls, References],
        &[
            "a.sh:10 - REFERENCES a.sh:run_all exact",
            "a.sh:5 use CALLS a.sh:check exact",
            "a.sh:7 use REFERENCES a.sh:run_all exact",
        ],
    );
}
