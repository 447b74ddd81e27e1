//! The rules by which names are found in each family of languages, as data.

use cairn_languages::Family;

/// The rules of a family. If a flag is true, the rule of this flag applies to the family.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    /// Members of the enclosing classes are visible without a receiver.
    pub(crate) implicit_self: bool,
    /// In calls, variables hide functions of the same name.
    pub(crate) variables_hide_functions: bool,
    /// Variables hide types of the same name.
    pub(crate) variables_hide_types: bool,
    /// Names at the top level of a package or namespace are visible in all its files.
    pub(crate) package_scope: bool,
    /// A name without a binding may be defined in any file of the repository.
    pub(crate) global_names: bool,
    /// A call without `new` never means a type.
    pub(crate) constructors_need_new: bool,
    /// Several definitions may have the same name if their parameters differ.
    pub(crate) overloads: bool,
    /// If the number of arguments in a call fits no definition, the call means none of the definitions.
    pub(crate) arity_is_strict: bool,
    /// The names that a file imports can also be imported from this file.
    pub(crate) imports_are_members: bool,
    /// The names of the enclosing modules are not visible inside an inline module.
    pub(crate) modules_are_closed: bool,
    /// The members of one class may be defined in several files.
    pub(crate) open_classes: bool,
    /// Modules inside a file are values: their members are accessed only through the module.
    pub(crate) modules_are_values: bool,
    /// Other files cannot refer to the private names of a file by any path.
    pub(crate) files_hide_private: bool,
    /// A call means a function, never a variable that contains a function.
    pub(crate) only_functions_are_called: bool,
    /// An import binds a whole module and does not show where a name is defined.
    pub(crate) imports_are_modules: bool,
    /// The list of bases contains both classes and interfaces. The kind of a base determines the kind of the
    /// edge.
    pub(crate) bases_are_mixed: bool,
    /// A call may omit arguments, or pass more arguments than the function declares.
    pub(crate) loose_arguments: bool,
    /// The number of parameters is part of the name of a definition.
    pub(crate) arity_is_name: bool,
    /// Modules have absolute names everywhere, and a module contains the structure with the same name.
    pub(crate) modules_are_types: bool,
    /// Constructors, fields and methods of a class are also names at the top level of the file.
    pub(crate) members_at_top: bool,
    /// Every file is a separate package, even if two packages have the same name.
    pub(crate) packages_are_files: bool,
    /// The ecosystem of the packages that are declared in this family.
    pub(crate) ecosystem: &'static str,
}

const PLAIN: Rules = Rules {
    implicit_self: false,
    variables_hide_functions: true,
    variables_hide_types: false,
    package_scope: false,
    global_names: false,
    constructors_need_new: false,
    overloads: false,
    arity_is_strict: false,
    imports_are_members: false,
    modules_are_closed: false,
    open_classes: false,
    modules_are_values: false,
    files_hide_private: false,
    only_functions_are_called: false,
    imports_are_modules: false,
    bases_are_mixed: false,
    loose_arguments: false,
    arity_is_name: false,
    modules_are_types: false,
    members_at_top: false,
    packages_are_files: false,
    ecosystem: "",
};

const PYTHON: Rules = Rules { variables_hide_types: true, imports_are_members: true, ecosystem: "pypi", ..PLAIN };

const SCRIPT: Rules = Rules { ecosystem: "npm", ..PLAIN };

const GO: Rules =
    Rules { variables_hide_types: true, package_scope: true, open_classes: true, ecosystem: "go", ..PLAIN };

const RUST: Rules =
    Rules { imports_are_members: true, modules_are_closed: true, open_classes: true, ecosystem: "cargo", ..PLAIN };

const JVM: Rules = Rules {
    implicit_self: true,
    variables_hide_functions: false,
    package_scope: true,
    overloads: true,
    arity_is_strict: true,
    ecosystem: "maven",
    ..PLAIN
};

const C: Rules = Rules {
    implicit_self: true,
    package_scope: true,
    global_names: true,
    overloads: true,
    arity_is_strict: true,
    open_classes: true,
    ..PLAIN
};

const C_SHARP: Rules = Rules {
    implicit_self: true,
    package_scope: true,
    global_names: true,
    constructors_need_new: true,
    overloads: true,
    arity_is_strict: true,
    open_classes: true,
    bases_are_mixed: true,
    ecosystem: "nuget",
    ..PLAIN
};

const RUBY: Rules = Rules {
    implicit_self: true,
    package_scope: true,
    global_names: true,
    open_classes: true,
    ecosystem: "gem",
    ..PLAIN
};

const PHP: Rules = Rules {
    variables_hide_functions: false,
    package_scope: true,
    global_names: true,
    constructors_need_new: true,
    ecosystem: "composer",
    ..PLAIN
};

const SWIFT: Rules = Rules {
    implicit_self: true,
    package_scope: true,
    global_names: true,
    overloads: true,
    open_classes: true,
    files_hide_private: true,
    imports_are_modules: true,
    bases_are_mixed: true,
    ..PLAIN
};

const LUA: Rules = Rules {
    variables_hide_types: true,
    global_names: true,
    modules_are_values: true,
    files_hide_private: true,
    loose_arguments: true,
    ..PLAIN
};

const BASH: Rules = Rules {
    variables_hide_functions: false,
    only_functions_are_called: true,
    global_names: true,
    imports_are_members: true,
    loose_arguments: true,
    ..PLAIN
};

const ELIXIR: Rules = Rules {
    variables_hide_functions: false,
    package_scope: true,
    overloads: true,
    arity_is_name: true,
    modules_are_types: true,
    ecosystem: "hex",
    ..PLAIN
};

const HASKELL: Rules = Rules { package_scope: true, members_at_top: true, packages_are_files: true, ..PLAIN };

// The declarations of a structure are visible everywhere inside the structure.
const ZIG: Rules = Rules { implicit_self: true, variables_hide_types: true, ..PLAIN };

impl Rules {
    /// The rules of a family.
    pub(crate) fn of(family: Family) -> Rules {
        match family {
            Family::Python => PYTHON,
            Family::Script => SCRIPT,
            Family::Go => GO,
            Family::Rust => RUST,
            Family::Jvm => JVM,
            Family::C => C,
            Family::CSharp => C_SHARP,
            Family::Ruby => RUBY,
            Family::Php => PHP,
            Family::Swift => SWIFT,
            Family::Lua => LUA,
            Family::Bash => BASH,
            Family::Elixir => ELIXIR,
            Family::Haskell => HASKELL,
            Family::Zig => ZIG,
            Family::Other => PLAIN,
        }
    }
}
