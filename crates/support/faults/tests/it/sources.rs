//! Checks that the list contains exactly the fail points in the source files.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use cairn_faults::POINTS;

const CALL: &str = "fail_point!(";

#[test]
fn listed_points_equal_those_in_the_sources() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    for (folder, listed) in POINTS {
        let mut found = BTreeSet::new();
        collect(&root.join(folder).join("src"), &mut found);
        let listed: BTreeSet<String> = listed.iter().map(|point| (*point).to_owned()).collect();
        assert_eq!(found, listed, "{folder}");
    }
}

fn collect(folder: &Path, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).expect("a folder of sources") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            collect(&path, found);
        } else {
            let text = fs::read_to_string(&path).expect("a source");
            found.extend(text.split(CALL).skip(1).map(|call| name(call, &path)));
        }
    }
}

fn name(call: &str, path: &Path) -> String {
    let name = call.trim_start().strip_prefix('"').and_then(|rest| rest.split('"').next());
    name.unwrap_or_else(|| panic!("a point in {} has no literal name", path.display())).to_owned()
}
