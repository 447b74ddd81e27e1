//! Names of modules, such as `fisio.imports.aws`.

/// The first two parts of a module's name: the root module, and the submodule. A part that the name does not
/// have is empty.
pub fn root_and_submodule(module: &str) -> (&str, &str) {
    let mut parts = module.splitn(3, '.');
    (parts.next().unwrap_or_default(), parts.next().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn module_root_and_submodule_are_the_first_two_parts() {
        let check = |module: &str, expect| assert_eq!(root_and_submodule(module), expect, "{module}");
        check("fisio.imports.aws", ("fisio", "imports"));
        check("fisio", ("fisio", ""));
        check("", ("", ""));
    }
}
