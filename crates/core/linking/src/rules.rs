//! How names are found in each family of languages, as data.

use cairn_languages::Family;

/// The rules of a family.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    /// Members of the enclosing classes are visible without a receiver.
    pub(crate) implicit_self: bool,
    /// Variables hide functions of the same name in calls.
    pub(crate) variables_hide_functions: bool,
    /// Variables hide types of the same name.
    pub(crate) variables_hide_types: bool,
    /// Names at the top of a package or namespace are visible in all its files.
    pub(crate) package_scope: bool,
    /// A name that nothing binds may come from any file of the repository.
    pub(crate) global_names: bool,
    /// A call never names a type.
    pub(crate) constructors_need_new: bool,
    /// One name may have several definitions that differ by their parameters.
    pub(crate) overloads: bool,
    /// A call whose number of arguments fits no definition means none of them.
    pub(crate) arity_is_strict: bool,
    /// Every import of a file can be imported from it.
    pub(crate) imports_are_members: bool,
    /// Definitions in inline modules do not see the modules around them.
    pub(crate) modules_are_closed: bool,
    /// Several files may contain members of one class.
    pub(crate) open_classes: bool,
    /// Modules inside a file are values: their members are named through them only.
    pub(crate) modules_are_values: bool,
    /// Private names of a file cannot be named from other files, by any path.
    pub(crate) files_hide_private: bool,
    /// A call names a function, never a variable that contains one.
    pub(crate) only_functions_are_called: bool,
    /// An import names a whole module and does not show the origin of a name.
    pub(crate) imports_are_modules: bool,
    /// The list of bases contains both classes and interfaces: the kind of the base decides.
    pub(crate) bases_are_mixed: bool,
    /// A call may leave arguments out or pass more than are declared.
    pub(crate) loose_arguments: bool,
    /// Definitions that differ in the number of their parameters have different names.
    pub(crate) arity_is_name: bool,
    /// Modules have absolute names at every place, and contain the structure of that name.
    pub(crate) modules_are_types: bool,
    /// Constructors, fields and methods of a class are names of the file as well.
    pub(crate) members_at_top: bool,
    /// Every file is a package of its own, even if two packages have the same name.
    pub(crate) packages_are_files: bool,
    /// The ecosystem of its packages.
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

impl Rules {
    /// The rules of a family.
    pub(crate) fn of(family: Family) -> Rules {
        match family {
            Family::Python => {
                Rules { variables_hide_types: true, imports_are_members: true, ecosystem: "pypi", ..PLAIN }
            }
            Family::Script => Rules { ecosystem: "npm", ..PLAIN },
            Family::Go => {
                Rules { variables_hide_types: true, package_scope: true, open_classes: true, ecosystem: "go", ..PLAIN }
            }
            Family::Rust => Rules {
                imports_are_members: true,
                modules_are_closed: true,
                open_classes: true,
                ecosystem: "cargo",
                ..PLAIN
            },
            Family::Jvm => Rules {
                implicit_self: true,
                variables_hide_functions: false,
                package_scope: true,
                overloads: true,
                arity_is_strict: true,
                ecosystem: "maven",
                ..PLAIN
            },
            Family::C => Rules {
                implicit_self: true,
                package_scope: true,
                global_names: true,
                overloads: true,
                arity_is_strict: true,
                open_classes: true,
                ..PLAIN
            },
            Family::CSharp => Rules {
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
            },
            Family::Ruby => Rules {
                implicit_self: true,
                package_scope: true,
                global_names: true,
                open_classes: true,
                ecosystem: "gem",
                ..PLAIN
            },
            Family::Php => Rules {
                variables_hide_functions: false,
                package_scope: true,
                global_names: true,
                constructors_need_new: true,
                ecosystem: "composer",
                ..PLAIN
            },
            Family::Swift => Rules {
                implicit_self: true,
                package_scope: true,
                global_names: true,
                overloads: true,
                open_classes: true,
                files_hide_private: true,
                imports_are_modules: true,
                bases_are_mixed: true,
                ..PLAIN
            },
            Family::Lua => Rules {
                variables_hide_types: true,
                global_names: true,
                modules_are_values: true,
                files_hide_private: true,
                loose_arguments: true,
                ..PLAIN
            },
            Family::Bash => Rules {
                variables_hide_functions: false,
                only_functions_are_called: true,
                global_names: true,
                imports_are_members: true,
                loose_arguments: true,
                ..PLAIN
            },
            Family::Elixir => Rules {
                variables_hide_functions: false,
                package_scope: true,
                overloads: true,
                arity_is_name: true,
                modules_are_types: true,
                ecosystem: "hex",
                ..PLAIN
            },
            Family::Haskell => Rules { package_scope: true, members_at_top: true, packages_are_files: true, ..PLAIN },
            // The declarations of a structure are visible in all of it.
            Family::Zig => Rules { implicit_self: true, variables_hide_types: true, ..PLAIN },
            Family::Other => PLAIN,
        }
    }
}
