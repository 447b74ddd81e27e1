//! Names of methods that are too common to identify the class that has them.

use std::sync::LazyLock;

use rustc_hash::FxHashSet;

/// Names of methods that many types have, including built-in types. Even if the repository defines such a
/// method only once, a call may mean a method from outside the repository.
const COMMON_METHODS: &str = "
    Add Append Bool Bytes Clear Clone Close Contains Copy Count Create Delete Do Done Equal Err Error
    Errorf Exec Exit Fatal Fatalf Find First Flush Format Get Handle Has Header Index Init Insert Int
    Int64 IsNil Join Key Keys Len Less List Load Lock Log Logf Map Marshal Name New Next Now Open Parse
    Path Pop Post Print Printf Println Push Put Query RLock RUnlock Read Remove Replace Reset Run Save
    Scan Select Send Set Size Skip Sort Split Start Status Stop Store String Sub Sum Swap Test Time Type
    Unlock Unmarshal Update Value Values Wait Write WriteString add all any append apply as_bytes as_mut
    as_ref as_str at begin bind build call cancel capitalize catch ceil charAt children chunks clear click
    clone close cmp collect commit compare compute concat config connect contains copied copy count create
    data debug decode default delete describe destroy detach diff dispatch display done drain drop dump
    dumps each emit empty enable encode end endsWith ends_with endswith entries enumerate eq equal equals
    err error escape eval exec execute exists exit expect extend fail fetch fields fill filter finalize
    find findall finish first flat_map flatten flush fmt fold forEach for_each format from front get
    getName getValue getattr group handle has hasNext hash hex id index indexOf info init insert
    intersection into into_iter invoke is isEmpty is_dir is_empty is_err is_file is_none is_ok is_some
    is_valid item items iter iterator join json keys kind last len length limit list listen ljust load
    loads lock log lower lstrip main map match matches max mean merge message min mkdir mock name names
    new next notify of off offset ok on once open or_else order parent parse partition path peek poll pop
    pop_front post prepare print process publish push push_back push_str put query raise read readline
    readlines ready receive record recv reduce refresh register release reload remove render repeat
    replace request reserve reset resize resolve resume reverse rfind rollback rotate round row rows
    rstrip run save scan search seek select send serialize set setDefault setName setValue set_default
    setdefault setup shape shift shutdown signal size skip sleep slice some sort split splitlines start
    startsWith starts_with startswith stat state status step stop store str strip sub submit substr
    substring sum swap symbol sync tail take tell test text then throw title to toArray toLowerCase
    toString toUpperCase to_owned to_string to_vec top total touch transform translate trim truncate try
    type union uniq unlock unwrap unwrap_or update upper url use valid validate value valueOf values
    verify view visit wait walk warn warning with wrap write writelines yield zip
";

/// Prefixes of the arithmetic methods of numbers.
const NUMBER_PREFIXES: &[&str] = &["checked_", "saturating_", "wrapping_", "overflowing_"];

/// Whether the name of a method is too common to be evidence of its class.
pub(crate) fn is_common_method(name: &str) -> bool {
    static NAMES: LazyLock<FxHashSet<&str>> = LazyLock::new(|| COMMON_METHODS.split_whitespace().collect());
    // In Ruby, the names of predicates and of methods that change their object end with one of these
    // characters.
    let plain = name.trim_end_matches(['?', '!', '=']);
    NAMES.contains(plain) || name.starts_with("__") || NUMBER_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_methods_are_listed_once_in_order() {
        let words: Vec<&str> = COMMON_METHODS.split_whitespace().collect();
        assert!(words.is_sorted_by(|a, b| a < b), "{:?}", words.windows(2).find(|pair| pair[0] >= pair[1]));
    }

    #[test]
    fn specific_names_are_not_common_methods() {
        assert!(is_common_method("get") && is_common_method("empty?") && is_common_method("checked_add"));
        assert!(!is_common_method("reticulate_splines"));
    }
}
